namespace Measurements.Reach;

/// <summary>
/// What a rent of one block is made of: each step by itself, beside the whole. Out of order, a processor overlaps steps, so they add up to
/// more than the whole.
/// </summary>
internal static class RentSteps
{
    private const int Length = 4 << 20;

    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static int t_start;
#pragma warning restore IDE1006

    /// <summary>Gets or sets where results go, so that they are not optimised away.</summary>
    public static object? Sink { get; set; }

    public static long Sum { get; set; }

    public static ResultTable Measure(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        WeakReference<object> weak = new(effort);
        long[] slot = new long[32];
        object?[] slots = new object?[32];
        slots[16] = effort;
        SideBySide steps = new(effort.Rounds, effort.Sample);
        steps.Add("a lease of 4 MB, rented and disposed", Loops.Lease(allocator, Length));
        steps.Add("an owner of 4 MB, allocated and disposed", Loops.Owner(allocator, Length));
        steps.Add("step: the slot that the thread remembers looked up", count =>
        {
            t_start = count;
            for (int i = 0; i < count; i++)
            {
                Sum += ReadStart();
            }
        });
        steps.Add("before, in place of a compare-exchange: a block exchanged out of its slot and put back", count =>
        {
            for (int i = 0; i < count; i++)
            {
                object? block = Interlocked.Exchange(ref slots[16], null);
                Interlocked.CompareExchange(ref slots[16], block, null);
            }
        });
        steps.Add("step: the guard's weak reference looked at, twice", count =>
        {
            for (int i = 0; i < count; i++)
            {
                Sum += weak.TryGetTarget(out _) ? 1 : 0;
                Sum += weak.TryGetTarget(out _) ? 1 : 0;
            }
        });
        steps.Add("step: one compare-exchange on a line of its own", count =>
        {
            for (int i = 0; i < count; i++)
            {
                Interlocked.CompareExchange(ref slot[16], i + 1, i);
                slot[16] = i + 1;
            }
        });
        steps.Add("step: an object of 32 bytes", count =>
        {
            for (int i = 0; i < count; i++)
            {
                Sink = new Owner(effort, i);
            }
        });
        steps.Add("for comparison: one exchange more", count =>
        {
            for (int i = 0; i < count; i++)
            {
                Interlocked.Exchange(ref slot[16], i);
            }
        });

        return new ResultTable
        {
            Title = "What a rent and its return are made of",
            Labels = ["what"],
            Columns =
            [
                new ResultColumn("median", "ns", "0.0"), new ResultColumn("best", "ns", "0.0"),
                new ResultColumn("of the lease", "×", "0.00"),
            ],
            Rows = [.. steps.Run().Select(time => new ResultRow([time.Name], [time.Median, time.Best, time.Ratio]))],
        };
    }

    // Not inlined, or the loop would look the thread up once. Rent and return are calls too.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int ReadStart() => t_start;

    private sealed class Owner(object guard, long generation)
    {
        public object Guard { get; } = guard;

        public long Generation { get; } = generation;
    }
}
