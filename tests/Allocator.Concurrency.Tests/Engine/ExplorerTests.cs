using Allocator.Concurrency.Interleaving.Atomics;

namespace Allocator.Concurrency.Engine;

/// <summary>Programs of which it is known what can happen, and in how many ways.</summary>
public sealed class ExplorerTests
{
    [Fact]
    public void Explore_ReadThenWrite_FindsTheLostUpdate()
    {
        static void AddOne(Inline run) => Volatile.Write(ref run.Shared.X, Volatile.Read(ref run.Shared.X) + 1);

        Outcome outcome = new Interleaving.Explorer()
            .Explore(() => new Inline(static run => Assert.Equal(2, run.Shared.X), AddOne, AddOne));

        Assert.Contains("Expected: 2", outcome.Failure, StringComparison.Ordinal);
        Assert.Contains("Write(run.Shared.X)  0 → 1", outcome.Failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(2, 2)]
    [InlineData(3, 6)]
    [InlineData(4, 24)]
    public void Explore_OneAtomicOperationEach_RunsEachOrderOnce(int threads, int orders)
    {
        Action<Inline>[] bodies = new Action<Inline>[threads];
        Array.Fill(bodies, static run => Interlocked.Increment(ref run.Shared.X));

        Outcome outcome = new Interleaving.Explorer().Explore(() => new Inline(run => Assert.Equal(threads, run.Shared.X), bodies));

        Assert.Null(outcome.Failure);
        Assert.True(outcome.IsExhaustive);
        Assert.Equal(orders, outcome.Schedules);
    }

    [Fact]
    public void Explore_ThreadsThatHaveNothingInCommon_RunsOneSchedule()
    {
        static void OfX(Inline run)
        {
            Interlocked.Increment(ref run.Shared.X);
            Interlocked.Increment(ref run.Shared.X);
        }

        static void OfY(Inline run)
        {
            Interlocked.Increment(ref run.Shared.Y);
            Interlocked.Increment(ref run.Shared.Y);
        }

        Outcome outcome = new Interleaving.Explorer().Explore(static () => new Inline(static _ => { }, OfX, OfY));

        Assert.True(outcome.IsExhaustive);
        Assert.Equal(1, outcome.Schedules);
    }

    [Fact]
    public void Explore_FinalizersArePending_AreRunBeforeTheFirstSchedule()
    {
        SlowToFinalize.LeaveAll();
        System.GC.Collect();

        Outcome outcome = new Interleaving.Explorer().Explore(
            static () => new Inline(static _ => Assert.Equal(0, SlowToFinalize.Left), static _ => { }));

        Assert.Null(outcome.Failure);
    }

    // Two writers and a reader of two reads: the writes have 2 orders, the reads fall into 3 × 3 intervals less those in the wrong order,
    // 6 each.
    [Fact]
    public void Explore_WritersAndAReader_SeesEveryPairOfValues()
    {
        bool[,] seen = new bool[3, 3];
        static void Read(Inline run)
        {
            run.Shared.SeenX = Volatile.Read(ref run.Shared.X);
            run.Shared.SeenY = Volatile.Read(ref run.Shared.X);
        }

        Outcome outcome = new Interleaving.Explorer().Explore(() => new Inline(
            run => seen[run.Shared.SeenX, run.Shared.SeenY] = true,
            static run => Volatile.Write(ref run.Shared.X, 1),
            static run => Volatile.Write(ref run.Shared.X, 2),
            Read));

        Assert.True(outcome.IsExhaustive);
        Assert.Equal(12, outcome.Schedules);
        Assert.True(seen[0, 0] && seen[0, 1] && seen[0, 2] && seen[1, 1] && seen[1, 2] && seen[2, 1] && seen[2, 2]);
        Assert.False(seen[1, 0] || seen[2, 0]);
    }

    [Fact]
    public void Explore_LocksTakenInOppositeOrder_FindsTheDeadlock()
    {
        Outcome outcome = new Interleaving.Explorer().Explore(static () => new Inline(
            static _ => { },
            static run => Nest(run.Shared.First, run.Shared.Second),
            static run => Nest(run.Shared.Second, run.Shared.First)));

        Assert.Contains("each waits for a lock", outcome.Failure, StringComparison.Ordinal);
    }

    [Fact]
    public void Explore_Lock_KeepsOthersOut()
    {
        static void AddOne(Inline run)
        {
            lock (run.Shared.First)
            {
                Volatile.Write(ref run.Shared.X, Volatile.Read(ref run.Shared.X) + 1);
            }
        }

        Outcome outcome = new Interleaving.Explorer()
            .Explore(static () => new Inline(static run => Assert.Equal(3, run.Shared.X), AddOne, AddOne, AddOne));

        Assert.Null(outcome.Failure);
        Assert.True(outcome.IsExhaustive);
        Assert.Equal(6, outcome.Schedules);
    }

    // What is left out comes to the same as what is run: checked against running everything.
    [Theory]
    [InlineData(3, false, 20)]
    [InlineData(2, true, 5)]
    public void Explore_RandomPrograms_FindsEveryPossibleOutcome(int threads, bool buffersStores, int timesFewer)
    {
        int all = 0;
        int reduced = 0;
        for (int seed = 1; seed <= 8; seed++)
        {
            HashSet<string> outcomes = [];
            HashSet<string> outcomesOfAll = [];
            reduced += Run(seed, threads, outcomes, leavesOutEquivalents: true, buffersStores);
            all += Run(seed, threads, outcomesOfAll, leavesOutEquivalents: false, buffersStores);
            Assert.Equal(outcomesOfAll.Order(), outcomes.Order());
        }

        Assert.True(all > timesFewer * reduced, $"{all} schedules became {reduced}.");
    }

    [Fact]
    public void Explore_NondeterministicScenario_Throws()
    {
        int runs = 0;
        void Change(Inline run)
        {
            _ = runs++ % 2 == 0 ? Interlocked.Increment(ref run.Shared.Y) : Interlocked.Decrement(ref run.Shared.Y);
            Interlocked.Increment(ref run.Shared.X);
        }

        Assert.Throws<InvalidOperationException>(() => new Interleaving.Explorer()
            .Explore(() => new Inline(static _ => { }, Change, static run => Interlocked.Increment(ref run.Shared.X))));
    }

    private static int Run(int seed, int threads, HashSet<string> outcomes, bool leavesOutEquivalents, bool buffersStores)
    {
        Outcome outcome = new Interleaving.Explorer { LeavesOutEquivalents = leavesOutEquivalents, BuffersStores = buffersStores }.Explore(
            () => new RandomProgram(seed, threads, buffersStores ? 3 : 2, outcomes));
        Assert.True(outcome.IsExhaustive && outcome.Failure is null, outcome.ToString());
        return outcome.Schedules;
    }

    private static void Nest(object outer, object inner)
    {
        lock (outer)
        {
            lock (inner)
            {
            }
        }
    }

    private sealed class SlowToFinalize
    {
        public static int Left = 100;

        ~SlowToFinalize()
        {
            Thread.SpinWait(10_000);
            System.Threading.Interlocked.Decrement(ref Left);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void LeaveAll()
        {
            for (int i = Left; i > 0; i--)
            {
                _ = new SlowToFinalize();
            }
        }
    }
}
