using System.Collections.Concurrent;

namespace Allocator.Tests.Diagnostics;

public class LeakReportTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void AllocationAbandoned_ManyLeaksFromOnePlace_MarksTheFirstAndEachDoubling() => RemoteExecutor.Invoke(static () =>
    {
        using BlockingCollection<AbandonedMemoryEventArgs> found = [];
        MemoryDiagnostics.AllocationAbandoned += (_, leak) => found.Add(leak);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        List<long> marked = [];
        for (int i = 1; i <= 9; i++)
        {
            LeakHere(allocator);
            AwaitLeaks(i);
            AwaitReports(i);

            // Before the next one leaks: finalizers might overtake each other.
            AbandonedMemoryEventArgs leak = Take(found);
            Assert.Equal((4L << 20, (long)i, (long)i * (4 << 20)), (leak.Bytes, leak.Place.Count, leak.Place.Bytes));
            Assert.Equal(leak.AllocationStackTrace, leak.Place.AllocationStackTrace);
            if (leak.IsFirstOrDoubled)
            {
                marked.Add(leak.Place.Count);
            }
        }

        Assert.Equal([1, 2, 4, 8], marked);
        Assert.Empty(found);
        LeakReport all = Assert.Single(MemoryDiagnostics.GetLeaks());
        Assert.Equal((9L, 9L * (4 << 20)), (all.Count, all.Bytes));
        Assert.Contains(nameof(LeakHere), all.AllocationStackTrace!.Split('\n')[0], StringComparison.Ordinal);
        Assert.StartsWith("37,748,736 bytes in 9 allocations never disposed, found up to", all.ToString(), StringComparison.Ordinal);
    }).Dispose();

    [Fact]
    public void AllocationAbandoned_TwoPlaces_AreCountedSeparately() => RemoteExecutor.Invoke(static () =>
    {
        using BlockingCollection<AbandonedMemoryEventArgs> found = [];
        MemoryDiagnostics.AllocationAbandoned += (_, leak) => found.Add(leak);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        LeakHere(allocator);
        LeakThere(allocator);
        AwaitLeaks(2);

        AbandonedMemoryEventArgs[] leaks = [Take(found), Take(found)];
        string stacks = leaks[0].AllocationStackTrace + leaks[1].AllocationStackTrace;

        Assert.All(leaks, static leak => Assert.Equal((1L, true), (leak.Place.Count, leak.IsFirstOrDoubled)));
        Assert.Contains(nameof(LeakHere), stacks, StringComparison.Ordinal);
        Assert.Contains(nameof(LeakThere), stacks, StringComparison.Ordinal);
        Assert.Equal([9_437_184L + 3_145_728, 4_194_304L], MemoryDiagnostics.GetLeaks().Select(report => report.Bytes));
    }).Dispose();

    [Fact]
    public void LongestAge_SeveralLeaksFromOnePlace_IsTheOldest() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using IMemoryOwner<byte> outstanding = allocator.Allocate<byte>(2 << 20);
        foreach (int seconds in (int[])[3, 70, 4])
        {
            MemoryDiagnostics.ReportAbandoned(new AbandonedMemoryEventArgs(1 << 20, TimeSpan.FromSeconds(seconds), "at Leak"));
        }

        AwaitReports(3);
        LeakReport all = Assert.Single(MemoryDiagnostics.GetLeaks());
        Assert.Equal(TimeSpan.FromSeconds(70), all.LongestAge);
        Assert.Contains("found up to 70.0 s after they were made", all.ToString(), StringComparison.Ordinal);
    }).Dispose();

    // A blocked handler must not keep the report of each leak until memory runs out.
    [Fact]
    public void AllocationAbandoned_HandlerBlocks_AThousandReportsWaitForItAndAllAreCounted() => RemoteExecutor.Invoke(static () =>
    {
        const int Leaks = 1500;
        using ManualResetEventSlim mayGoOn = new();
        using BlockingCollection<AbandonedMemoryEventArgs> found = [];
        MemoryDiagnostics.AllocationAbandoned += (_, leak) =>
        {
            mayGoOn.Wait();
            found.Add(leak);
        };
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using IMemoryOwner<byte> outstanding = allocator.Allocate<byte>(2 << 20);
        for (int i = 0; i < Leaks; i++)
        {
            MemoryDiagnostics.ReportAbandoned(new AbandonedMemoryEventArgs(1 << 20, TimeSpan.Zero, "at Leak"));
        }

        // The first, which blocks, and those beyond the ones that wait.
        AwaitReports(1 + Leaks - 1000);
        mayGoOn.Set();
        AwaitReports(Leaks);
        for (int i = 0; i < 1000; i++)
        {
            Take(found);
        }

        Assert.Equal(Leaks, MemoryDiagnostics.AbandonedAllocations);
        Assert.Empty(found);
    }).Dispose();

    [Theory]
    [InlineData(nameof(LeakDetection.Off), 0, 0)]
    [InlineData(nameof(LeakDetection.Counters), 200, 0)]
    [InlineData(nameof(LeakDetection.SampledStacks), 200, 2)]
    [InlineData(nameof(LeakDetection.AllStacks), 200, 200)]
    public void LeakDetection_EachLevel_KeepsItsShareOfStacks(string level, int leaks, int stacks) => RemoteExecutor.Invoke(
        static (level, leaks, stacks) =>
        {
            MemoryDiagnostics.LeakDetection = Enum.Parse<LeakDetection>(level);
            using MemoryAllocator allocator = MemoryAllocator.Create();
            for (int i = 0; i < 200; i++)
            {
                LeakHere(allocator);
            }

            // Found by the allocator in any case, whatever is reported.
            Assert.True(SpinWait.SpinUntil(() => CollectAnd(() => allocator.GetStatistics().Abandoned == 200), s_patience));

            AwaitReports(Parse(leaks));
            Assert.Equal(Parse(leaks), MemoryDiagnostics.AbandonedAllocations);
            Assert.Equal(
                Parse(stacks),
                MemoryDiagnostics.GetLeaks().Where(report => report.AllocationStackTrace is not null).Sum(report => report.Count));
        },
        level,
        leaks.ToString(System.Globalization.CultureInfo.InvariantCulture),
        stacks.ToString(System.Globalization.CultureInfo.InvariantCulture)).Dispose();

    [Theory]
    [InlineData("AllStacks", nameof(LeakDetection.AllStacks))]
    [InlineData("off", nameof(LeakDetection.Off))]
    [InlineData("", nameof(LeakDetection.Counters))]
    public void LeakDetection_EnvironmentVariable_SetsTheLevel(string value, string expected)
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_LEAK_DETECTION"] = value } };
        RemoteExecutor.Invoke(static expected => Assert.Equal(expected, MemoryDiagnostics.LeakDetection.ToString()), expected, options)
            .Dispose();
    }

    // A program that logged the level at its start got no stacks.
    [Fact]
    public void LeakDetection_ReadBeforeTheFirstAllocator_TakesEffect()
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_LEAK_DETECTION"] = "AllStacks" } };
        RemoteExecutor.Invoke(
            static () =>
            {
                Assert.Equal(LeakDetection.AllStacks, MemoryDiagnostics.LeakDetection);
                using MemoryAllocator allocator = MemoryAllocator.Create();
                LeakHere(allocator);
                AwaitLeaks(1);
                AwaitReports(1);
                Assert.Contains(nameof(LeakHere), Assert.Single(MemoryDiagnostics.GetLeaks()).AllocationStackTrace);
            },
            options).Dispose();
    }

    // The end of a scope would hide the exception of the code within it.
    [Fact]
    public void LeakDetection_UnknownEnvironmentVariable_FailsNoScopeAndNoSubscription()
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_LEAK_DETECTION"] = "everything" } };
        RemoteExecutor.Invoke(
            static () =>
            {
                MemoryDiagnostics.BeginScope().Dispose();
                MemoryDiagnostics.AllocationAbandoned += Ignore;
                MemoryDiagnostics.AllocationAbandoned -= Ignore;
                Assert.Throws<InvalidOperationException>(static () => MemoryDiagnostics.LeakDetection);
            },
            options).Dispose();

        static void Ignore(object? sender, AbandonedMemoryEventArgs e)
        {
        }
    }

    [Theory]
    [InlineData("everything")]
    [InlineData("2")]
    public void LeakDetection_UnknownEnvironmentVariable_FailsCreationOfAnAllocator(string value)
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_LEAK_DETECTION"] = value } };
        RemoteExecutor.Invoke(
            static value =>
            {
                string message = Assert.Throws<InvalidOperationException>(() => MemoryAllocator.Create().Dispose()).Message;
                Assert.Equal($"The environment variable ALLOCATOR_LEAK_DETECTION is \"{value}\"; it must be one of Off, Counters, "
                    + "SampledStacks, AllStacks.", message);
            },
            value,
            options).Dispose();
    }

    [Fact]
    public void LeakDetection_RuntimeProperty_PrecedesTheEnvironment()
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_LEAK_DETECTION"] = "Off" } };
        RemoteExecutor.Invoke(
            static () =>
            {
                AppDomain.CurrentDomain.SetData("Allocator.LeakDetection", "SampledStacks");
                Assert.Equal(LeakDetection.SampledStacks, MemoryDiagnostics.LeakDetection);
            },
            options).Dispose();
    }

    [Fact]
    public void LeakDetection_UndefinedValue_Throws() =>
        Assert.Throws<ArgumentOutOfRangeException>(static () => MemoryDiagnostics.LeakDetection = (LeakDetection)4);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LeakHere(MemoryAllocator allocator) => allocator.Allocate<byte>(3_000_000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LeakThere(MemoryAllocator allocator) => allocator.Allocate<byte>(12_000_000);

    private static void AwaitLeaks(int count) =>
        Assert.True(SpinWait.SpinUntil(() => CollectAnd(() => MemoryDiagnostics.AbandonedAllocations >= count), s_patience));

    private static void AwaitReports(int count) =>
        Assert.True(SpinWait.SpinUntil(() => MemoryDiagnostics.GetLeaks().Sum(report => report.Count) >= count, s_patience));

    private static bool CollectAnd(Func<bool> condition)
    {
        QueuedWork.Collect();
        return condition();
    }

    private static AbandonedMemoryEventArgs Take(BlockingCollection<AbandonedMemoryEventArgs> found) =>
        found.TryTake(out AbandonedMemoryEventArgs? leak, s_patience) ? leak : throw new TimeoutException("No leak was reported.");

    private static int Parse(string number) => int.Parse(number, System.Globalization.CultureInfo.InvariantCulture);
}
