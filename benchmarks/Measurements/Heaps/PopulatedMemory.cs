namespace Measurements.Heaps;

/// <summary>What a child rents again and again in a control group, and whether it writes it.</summary>
internal sealed record PopulateRequest(bool Populates, bool Writes, bool IsNew, int Bytes, int Milliseconds);

/// <summary>The time of the median rent and return, with what is written between, and what one rent makes resident.</summary>
internal sealed record PopulateResult(double Microseconds, long ResidentBytes);

/// <summary>
/// What it costs that memory is resident before it is rented (PopulateMemory): programs that write what they rent, and programs that never
/// do, with and without it, in processes under a control group's limit, in turn.
/// </summary>
internal static class PopulatedMemory
{
    private const int LimitMegabytes = 350;
    private const int PoolMegabytes = 128;
    private const double Megabyte = 1 << 20;

    private static readonly int[] s_sizes = [4 << 20, 32 << 20];

    private static readonly Option<int> s_rounds =
        new Option<int>("--rounds") { Description = "Processes of each kind.", DefaultValueFactory = _ => 9 }.AtLeast(1);

    public static ChildTask<PopulateRequest, PopulateResult> Task { get; } = new(
        "populate", MeasurementJson.Default.PopulateRequest, MeasurementJson.Default.PopulateResult, Run);

    public static Command Create() => new Command(
        "populate", "Measures what memory that is resident before it is rented costs programs that write it, and that never do.")
    {
        s_rounds,
    }.Measures("PopulatedMemory", Measure);

    private static ResultDocument? Measure(MeasurementRun run)
    {
        if (MemoryCgroup.WhyUnavailable() is { } reason)
        {
            run.Failures.Add(reason);
            return null;
        }

        int rounds = run.Get(s_rounds, 1);
        int milliseconds = run.IsQuick ? 50 : 500;
        return run.NewDocument("Memory that is resident before it is rented") with
        {
            Tables =
            [
                new ResultTable
                {
                    Title = "One rent and its return",
                    Labels = ["memory", "the program"],
                    Columns =
                    [
                        new("populated", "µs", "N1"), new("not populated", "µs", "N1"), new("ratio", "×", "0.00"),
                        new("populated: resident", "MiB", "0.0"), new("not populated: resident", "MiB", "0.0"),
                    ],
                    Rows =
                    [
                        .. from bytes in s_sizes
                           from isNew in new[] { true, false }
                           from writes in new[] { false, true }
                           select Compare(new PopulateRequest(Populates: true, writes, isNew, bytes, milliseconds), rounds),
                    ],
                },
            ],
            Notes =
            [
                Invariant($"Medians of {rounds} processes of each kind, in turn, each in a control group of {LimitMegabytes} MiB; ")
                    + Invariant($"in each the median of as many as fit {milliseconds} ms, on one thread."),
                "New memory comes from the system and goes back each time (a pool of size 0), idle memory is a block of the pool.",
                "A program that writes fills all of it. Resident: the growth of the resident set while the first rent is held.",
                "Ratio: the median of the ratios of the rounds.",
            ],
        };
    }

    // In turn, so that what else the machine does falls on both.
    private static ResultRow Compare(PopulateRequest request, int rounds)
    {
        List<(PopulateResult With, PopulateResult Without)> pairs = [];
        for (int round = 0; round < rounds; round++)
        {
            pairs.Add((RunInGroup(request), RunInGroup(request with { Populates = false })));
        }

        return new ResultRow(
            [
                Invariant($"{(request.IsNew ? "new" : "idle")}, {request.Bytes >> 20} MiB"),
                request.Writes ? "writes it" : "never writes it",
            ],
            [
                Statistics.Median(pairs.Select(static pair => pair.With.Microseconds)),
                Statistics.Median(pairs.Select(static pair => pair.Without.Microseconds)),
                Statistics.Median(pairs.Select(static pair => pair.With.Microseconds / pair.Without.Microseconds)),
                Statistics.Median(pairs.Select(static pair => pair.With.ResidentBytes / Megabyte)),
                Statistics.Median(pairs.Select(static pair => pair.Without.ResidentBytes / Megabyte)),
            ]);
    }

    private static PopulateResult RunInGroup(PopulateRequest request)
    {
        using MemoryCgroup group = MemoryCgroup.Create(LimitMegabytes * (1L << 20));
        return Task.Run(request, group.Wrap);
    }

    private static PopulateResult Run(PopulateRequest request)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = request.IsNew ? 0 : PoolMegabytes,
            PopulateMemory = request.Populates,
        });

        // Small, so that code is compiled, and another length, so that the block in question is not resident yet.
        Rent(allocator, 2 << 20, request.Writes);
        allocator.ReleaseRetainedResources();
        long resident = Rent(allocator, request.Bytes, request.Writes);
        List<double> times = [];

        // An idle block that is not written is rented in less than the clock's 100 ns.
        int rents = request.IsNew || request.Writes ? 1 : 1_000;
        long end = Environment.TickCount64 + request.Milliseconds;
        do
        {
            long start = Stopwatch.GetTimestamp();
            for (int i = 0; i < rents; i++)
            {
                using IMemoryOwner<byte> owner = allocator.Allocate<byte>(request.Bytes, AllocationOptions.Contiguous);
                if (request.Writes)
                {
                    owner.Memory.Span.Fill(1);
                }
            }

            times.Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds / rents);
        }
        while (Environment.TickCount64 < end);
        return new PopulateResult(Statistics.Median(times), resident);
    }

    private static long Rent(MemoryAllocator allocator, int bytes, bool writes)
    {
        long before = ProcessMemory.ReadResident();
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(bytes, AllocationOptions.Contiguous);
        if (writes)
        {
            owner.Memory.Span.Fill(1);
        }

        return Math.Max(0, ProcessMemory.ReadResident() - before);
    }
}
