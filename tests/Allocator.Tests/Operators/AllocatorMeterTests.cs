using System.Diagnostics.Metrics;

namespace Allocator.Tests.Operators;

public class AllocatorMeterTests
{
    private const int Block = 4 << 20;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void Instruments_OfTheMeter_HaveTheirNamesKindsAndUnits() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using MeterReadings readings = new();
        readings.WaitForAll();

        Assert.Equal(
            [
                "ObservableCounter allocator.abandoned_allocations {allocation}",
                "ObservableCounter allocator.allocation_retries {retry}",
                "ObservableCounter allocator.budget.waits {request}",
                "ObservableCounter allocator.job.ended {job}",
                "ObservableCounter allocator.job.refused {job}",
                "ObservableCounter allocator.memory.trimmed By",
                "ObservableCounter allocator.native_heap.trim_time ms",
                "ObservableCounter allocator.native_heap.trimmed By",
                "ObservableCounter allocator.native_heap.trims {trim}",
                "ObservableCounter allocator.pool.hits {request}",
                "ObservableCounter allocator.pool.misses {request}",
                "ObservableCounter allocator.rents {rent}",
                "ObservableCounter allocator.trims {trim}",
                "ObservableGauge allocator.job.elsewhere By",
                "ObservableGauge allocator.job.per_unit By",
                "ObservableGauge allocator.job.size By",
                "ObservableGauge allocator.memory.peak_committed By",
                "ObservableUpDownCounter allocator.budget.limit By",
                "ObservableUpDownCounter allocator.budget.usage By",
                "ObservableUpDownCounter allocator.job.running {job}",
                "ObservableUpDownCounter allocator.job.waiting {job}",
                "ObservableUpDownCounter allocator.memory.committed By",
                "ObservableUpDownCounter allocator.memory.quarantined By",
                "ObservableUpDownCounter allocator.memory.rented By",
                "ObservableUpDownCounter allocator.memory.retained By",
                "ObservableUpDownCounter allocator.outstanding_allocations {allocation}",
            ],
            readings.Instruments.Select(static i => $"{i.GetType().Name[..^2]} {i.Name} {i.Unit}").Order(StringComparer.Ordinal));
        Assert.All(readings.Instruments, static i => Assert.False(string.IsNullOrEmpty(i.Description)));
        string version = typeof(MemoryAllocator).Assembly.GetName().Version!.ToString(3);
        Assert.All(readings.Instruments, i => Assert.Equal(version, i.Meter.Version));
    }).Dispose();

    [Fact]
    public void Instruments_JobsHaveNames_MeasureEach() => RemoteExecutor.Invoke(static async () =>
    {
        using MeterReadings readings = new();
        MemoryAllocatorOptions options = new() { Name = "photos", MemoryBudgetMegabytes = 64 };
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        await LearnedReservationTests.TeachAsync(allocator, "thumbnails", 8 << 20, size: 2 << 20);
        using MemoryReservation inTheWay = await allocator.ReserveAsync(50 << 20);
        using MemoryReservation running = await allocator.ReserveAsync("thumbnails", 2 << 20);
        Task<MemoryReservation> waiting = allocator.ReserveAsync("thumbnails", 2 << 20).AsTask();
        readings.WaitForAll();
        readings.Collect();
        Assert.Equal(
            [8L << 20, 0, 4, 16, 0, 1, 1],
            new[] { "size", "elsewhere", "per_unit", "ended", "refused", "running", "waiting" }.Select(
                figure => readings[$"allocator.job.{figure}{{allocator.name=photos}}{{allocator.job.name=thumbnails}}"]));
        inTheWay.Dispose();
        (await waiting).Dispose();
    }).Dispose();

    [Fact]
    public void Collection_OfAnAllocator_ReportsItsStatistics() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        using MemoryAllocator allocator = Create("photos", budgetMegabytes: 64);
        using IMemoryOwner<byte> small = allocator.Allocate<byte>(100_000);
        using IMemoryOwner<byte> block = allocator.Allocate<byte>(3_000_000);
        allocator.Allocate<byte>(3_000_000).Dispose();
        allocator.Allocate<byte>(3_000_000).Dispose();
        allocator.AllocateGroup<byte>(3 * Block).Dispose();
        Assert.Throws<MemoryLimitExceededException>(() => allocator.Allocate<byte>(62 << 20));
        using (allocator.Allocate<byte>(50 << 20))
        {
        }

        allocator.ReleaseRetainedResources();
        allocator.Prewarm(2 * Block);

        readings.Collect();

        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        Assert.True(statistics is
        {
            RentedBytes: > Block,
            RetainedBytes: > 0,
            Rents: 6,
            PoolHits: > 0,
            PoolMisses: > 0,
            TrimmedBytes: > 0,
            BudgetWaits: 1,
            BudgetUsedBytes: > Block
        }, statistics.ToString());
        Assert.Equal(statistics.RentedBytes, readings["allocator.memory.rented{allocator.name=photos}"]);
        Assert.Equal(statistics.RetainedBytes, readings["allocator.memory.retained{allocator.name=photos}"]);
        Assert.Equal(statistics.CommittedBytes, readings["allocator.memory.committed{allocator.name=photos}"]);
        Assert.Equal(statistics.PeakCommittedBytes, readings["allocator.memory.peak_committed{allocator.name=photos}"]);
        Assert.Equal(statistics.QuarantinedBytes, readings["allocator.memory.quarantined{allocator.name=photos}"]);
        Assert.Equal(statistics.OutstandingAllocations, readings["allocator.outstanding_allocations{allocator.name=photos}"]);
        Assert.Equal(statistics.BudgetUsedBytes, readings["allocator.budget.usage{allocator.name=photos}"]);
        Assert.Equal(64 << 20, readings["allocator.budget.limit{allocator.name=photos}"]);
        Assert.Equal(statistics.Rents, readings["allocator.rents{allocator.name=photos}"]);
        Assert.Equal(statistics.PoolHits, readings["allocator.pool.hits{allocator.name=photos}"]);
        Assert.Equal(statistics.PoolMisses, readings["allocator.pool.misses{allocator.name=photos}"]);
        Assert.Equal(statistics.Abandoned, readings["allocator.abandoned_allocations{allocator.name=photos}"]);
        Assert.Equal(statistics.AllocationRetries, readings["allocator.allocation_retries{allocator.name=photos}"]);
        Assert.Equal(statistics.BudgetWaits, readings["allocator.budget.waits{allocator.name=photos}"]);
        Assert.Equal(statistics.NativeHeapTrims, readings["allocator.native_heap.trims{allocator.name=photos}"]);
        Assert.Equal(statistics.NativeHeapTrimmedBytes, readings["allocator.native_heap.trimmed{allocator.name=photos}"]);
        Assert.Equal(
            (long)statistics.NativeHeapTrimTime.TotalMilliseconds, readings["allocator.native_heap.trim_time{allocator.name=photos}"]);
        Assert.Equal(statistics.Trims, SumOf(readings, "allocator.trims{"));
        Assert.Equal(statistics.TrimmedBytes, SumOf(readings, "allocator.memory.trimmed{"));
        Assert.True(readings["allocator.trims{allocator.name=photos}{allocator.trim.reason=requested}"] > 0);
        Assert.Equal(readings.Keys.Count(), readings.Keys.Distinct().Count());
    }).Dispose();

    [Fact]
    public void Collection_SeveralAllocatorsOfOneName_ReportsTheirSum() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        using MemoryAllocator one = Create("photos");
        using MemoryAllocator other = Create("photos");
        using MemoryAllocator stranger = Create("thumbnails");
        using IMemoryOwner<byte> a = one.Allocate<byte>(Block);
        using IMemoryOwner<byte> b = other.Allocate<byte>(2 * Block);
        using IMemoryOwner<byte> c = stranger.Allocate<byte>(Block);

        readings.Collect();

        Assert.Equal(3 * Block, readings["allocator.memory.rented{allocator.name=photos}"]);
        Assert.Equal(2, readings["allocator.rents{allocator.name=photos}"]);
        Assert.Equal(Block, readings["allocator.memory.rented{allocator.name=thumbnails}"]);
        Assert.DoesNotContain(readings.Keys, static key => key.StartsWith("allocator.budget.usage", StringComparison.Ordinal));
    }).Dispose();

    [Fact]
    public async Task Collection_DefaultUnnamedAndReservations_AreDistinguished() =>
        await Task.Run(static () => RemoteExecutor.Invoke(static async () =>
    {
        using MeterReadings readings = new();
        using MemoryAllocator unnamed = Create(null, budgetMegabytes: 64);
        using MemoryReservation reservation = await unnamed.ReserveAsync(3 * Block);
        using IMemoryOwner<byte> a = MemoryAllocator.Default.Allocate<byte>(2 * Block);
        using IMemoryOwner<byte> b = reservation.Allocate<byte>(Block);

        readings.Collect();

        Assert.Equal(2 * Block, readings["allocator.memory.rented{allocator.name=Default}"]);
        Assert.Equal(Block, readings["allocator.memory.rented"]);
        Assert.Equal(3 * Block, readings["allocator.budget.usage"]);
        Assert.Equal(2, readings.Keys.Count(static key => key.StartsWith("allocator.memory.rented", StringComparison.Ordinal)));
        Assert.Equal("Default", MemoryAllocator.Default.Name);
    }).Dispose());

    [Fact]
    public void Totals_OfEndedAllocators_StayInTheSum() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        long last = 0;
        for (int i = 1; i <= 20; i++)
        {
            using (MemoryAllocator allocator = Create("photos"))
            {
                allocator.Allocate<byte>(Block).Dispose();
                allocator.Allocate<byte>(100).Dispose();
            }

            readings.Collect();
            Assert.Equal(2 * i, readings["allocator.rents{allocator.name=photos}"]);
            Assert.Equal(i, readings["allocator.pool.misses{allocator.name=photos}"]);
            Assert.Equal(i, readings["allocator.trims{allocator.name=photos}{allocator.trim.reason=requested}"]);
            Assert.Null(readings["allocator.memory.committed{allocator.name=photos}"]);
            Assert.Null(readings["allocator.memory.peak_committed{allocator.name=photos}"]);
            Assert.True(SumOf(readings, "allocator.memory.trimmed") > last);
            last = SumOf(readings, "allocator.memory.trimmed");
        }
    }).Dispose();

    [Fact]
    public void Totals_OfAllocatorsThatEndedBeforeTheMeter_AreNotReported() => RemoteExecutor.Invoke(static () =>
    {
        UseAndDispose("photos");
        ReadLater();

        // Apart: this method's own listener would be known before the first allocator.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void ReadLater()
        {
            using MeterReadings readings = new();
            UseAndDispose("photos");
            readings.WaitForAll();
            Assert.Equal(1, readings.Collect()["allocator.rents{allocator.name=photos}"]);
            UseAndDispose("photos");
            Assert.Equal(2, readings.Collect()["allocator.rents{allocator.name=photos}"]);
        }
    }).Dispose();

    [Fact]
    public void Allocator_DisposedWithOutstandingMemory_IsReportedUntilItIsReturned() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        MemoryAllocator allocator = Create("photos");
        IMemoryOwner<byte> late = allocator.Allocate<byte>(Block);
        allocator.Dispose();

        Assert.Equal(Block, readings.Collect()["allocator.memory.rented{allocator.name=photos}"]);
        Assert.Equal(1, readings["allocator.outstanding_allocations{allocator.name=photos}"]);
        late.Dispose();

        Assert.Null(readings.Collect()["allocator.memory.rented{allocator.name=photos}"]);
        Assert.Equal(1, readings["allocator.rents{allocator.name=photos}"]);
    }).Dispose();

    [Fact]
    public void Allocator_DroppedWithoutDispose_EndsToo() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        DropAllocator();
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                QueuedWork.Collect();
                return readings.Collect()["allocator.memory.committed{allocator.name=dropped}"] is null;
            },
            s_patience));

        Assert.Equal(1, readings["allocator.rents{allocator.name=dropped}"]);
    }).Dispose();

    [Fact]
    public void Names_OfTenThousandEndedAllocators_AreKeptWithinBounds() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        using MemoryAllocator live = Create("live");
        for (int i = 0; i < 10_000; i++)
        {
            using MemoryAllocator allocator = Create($"job {i}");
            allocator.Allocate<byte>(10).Dispose();
        }

        readings.Collect();

        Assert.Equal(1_000 + 1, readings.Keys.Count(static key => key.StartsWith("allocator.rents{", StringComparison.Ordinal)));
        Assert.Equal(1, readings["allocator.rents{allocator.name=job 9999}"]);
        Assert.Equal(0, readings["allocator.rents{allocator.name=live}"]);
    }).Dispose();

    // A name that comes back for every job is one name, however often it ends.
    [Fact]
    public void Names_OneThatEndsRepeatedly_DisplacesNoOther() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        UseAndDispose("nightly");
        for (int i = 0; i < 1_100; i++)
        {
            UseAndDispose("request");
        }

        readings.Collect();

        Assert.Equal(1_100, readings["allocator.rents{allocator.name=request}"]);
        Assert.Equal(1, readings["allocator.rents{allocator.name=nightly}"]);
    }).Dispose();

    [Fact]
    public void Collection_WhileOthersRent_IsConsistent() => RemoteExecutor.Invoke(static () =>
    {
        using MeterReadings readings = new();
        using MemoryAllocator allocator = Create("busy");
        allocator.Prewarm(16 * Block);
        readings.WaitForAll();
        using CancellationTokenSource done = new();
        Thread renter = new(() =>
        {
            while (!done.IsCancellationRequested)
            {
                using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(8L * Block);
            }
        });
        renter.Start();
        int agreed = 0;
        for (int i = 0; i < 400; i++)
        {
            readings.Collect();
            long? sum =
                readings["allocator.memory.rented{allocator.name=busy}"] + readings["allocator.memory.retained{allocator.name=busy}"];
            agreed += sum is not null && sum == readings["allocator.memory.committed{allocator.name=busy}"] ? 1 : 0;
        }

        done.Cancel();
        renter.Join();

        // All but those that were interrupted for longer than one reading is shared.
        Assert.InRange(agreed, 300, 400);
    }).Dispose();

    [Fact]
    public void Listener_ThrowsOrAllocates_NothingFails() => RemoteExecutor.Invoke(static () =>
    {
        using MeterListener publishing = new();
        int instruments = 0;
        publishing.InstrumentPublished = (instrument, _) =>
        {
            if (instrument.Meter.Name == "Allocator")
            {
                instruments++;
                throw new InvalidOperationException("of the listener");
            }
        };
        publishing.Start();
        using MemoryAllocator allocator = Create("photos");
        using MeterListener measuring = new();
        int measurements = 0;
        measuring.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Meter.Name == "Allocator")
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        measuring.SetMeasurementEventCallback<long>((_, _, _, _) =>
        {
            measurements++;
            allocator.Allocate<byte>(Block).Dispose();
            using MemoryAllocator another = Create("another");
            throw new InvalidOperationException("of the listener");
        });
        measuring.Start();
        Assert.Throws<AggregateException>(measuring.RecordObservableInstruments);

        // Each instrument that has a measurement throws at its first.
        Assert.Equal((26, 15), (instruments, measurements));
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }).Dispose();

    [Fact]
    public void Process_WithoutMetrics_PaysForNoMeter() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = Create("photos");
        allocator.Allocate<byte>(Block).Dispose();

        Assert.DoesNotContain(
            AppDomain.CurrentDomain.GetAssemblies(), static assembly => assembly.GetName().Name == "System.Diagnostics.DiagnosticSource");
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void UseAndDispose(string name)
    {
        using MemoryAllocator allocator = Create(name);
        allocator.Allocate<byte>(Block).Dispose();
    }

    private static MemoryAllocator Create(string? name, int? budgetMegabytes = null) => MemoryAllocator.Create(
        new MemoryAllocatorOptions
        {
            Name = name,
            MaximumPoolSizeMegabytes = 64,
            MemoryBudgetMegabytes = budgetMegabytes,
            TrimPeriod = TimeSpan.FromHours(1),
        });

    private static long SumOf(MeterReadings readings, string prefix) =>
        readings.Keys.Where(key => key.StartsWith(prefix, StringComparison.Ordinal)).Sum(key => readings[key] ?? 0);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropAllocator() => Create("dropped").Allocate<byte>(Block).Dispose();
}
