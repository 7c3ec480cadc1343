using System.Collections.Concurrent;
using System.Reflection;
using static Allocator.Tests.Fakes.GuardedSetup;

namespace Allocator.Tests.Guarding;

/// <summary>
/// Watched memory that was not returned, that a finalizer returned, and what is reported about it. Collections and events: a process
/// of its own each.
/// </summary>
public class GuardedAbandonmentTests
{
    private const int Block = TestSetup.BlockSize;

    [Theory]
    [InlineData(SafetyMode.Sampled, AbandonedMemory.Quarantine)]
    [InlineData(SafetyMode.Guarded, AbandonedMemory.Quarantine)]
    [InlineData(SafetyMode.Guarded, AbandonedMemory.Reuse)]
    public void Abandoned_WatchedMemory_IsReportedWithItsStackAndTreatedAsReturned(SafetyMode mode, AbandonedMemory abandoned) =>
        RemoteExecutor.Invoke(
        static (modeName, abandonedName) =>
        {
            (SafetyMode mode, AbandonedMemory abandoned) = (Enum.Parse<SafetyMode>(modeName), Enum.Parse<AbandonedMemory>(abandonedName));
            using TestSetup setup = Create(mode, abandoned: abandoned);
            AbandonGroup(setup);

            // No listener was there when the memory was allocated: its stack is there all the same.
            using BlockingCollection<AbandonedMemoryEventArgs> reports = [];
            MemoryDiagnostics.AllocationAbandoned += (_, report) => reports.Add(report);
            Collect();
            Assert.True(reports.TryTake(out AbandonedMemoryEventArgs? report, TimeSpan.FromSeconds(30)));
            Assert.Equal(3L * Block, report.Bytes);
            Assert.Contains(nameof(AbandonGroup), report.AllocationStackTrace);

            if (abandoned == AbandonedMemory.Quarantine)
            {
                Assert.Equal((3L * Block, 3L * Block), (setup.Statistics.QuarantinedBytes, setup.Statistics.CommittedBytes));
                Assert.Equal(mode == SafetyMode.Guarded ? 3 : 0, Count(AllocationRecordState.Abandoned));
                setup.Clock.Advance(TimeSpan.FromMinutes(2));
                Collect();
            }

            long kept = mode == SafetyMode.Guarded ? 3 * Block : 0;
            Assert.True(SpinWait.SpinUntil(() => setup.Statistics.QuarantinedBytes == kept
                && setup.Statistics.CommittedBytes == kept, TimeSpan.FromSeconds(30)));
            Assert.Equal(3, setup.Source.LiveAllocations);
            setup.Allocator.ReleaseRetainedResources();
            Assert.Equal((0L, 0), (setup.Statistics.CommittedBytes, setup.Source.LiveAllocations));
            Assert.Equal(mode == SafetyMode.Guarded ? 3 : 0, Count(AllocationRecordState.Freed));
        },
        mode.ToString(),
        abandoned.ToString()).Dispose();

    [Fact]
    public void CorruptionFound_AbandonedMemoryOverrun_IsRaisedAndNotThrown() => RemoteExecutor.Invoke(static () =>
    {
        using BlockingCollection<CorruptionEventArgs> reports = [];
        MemoryDiagnostics.CorruptionFound += static (_, _) => throw new InvalidOperationException("A listener's own fault.");
        MemoryDiagnostics.CorruptionFound += (_, report) => reports.Add(report);
        using TestSetup setup = Create(SafetyMode.Guarded);
        AbandonOverrun(setup);
        Collect();
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        Collect();

        Assert.True(reports.TryTake(out CorruptionEventArgs? report, TimeSpan.FromSeconds(30)));
        Assert.Equal((CorruptionKind.Overrun, 100L, 100L), (report.Kind, report.Bytes, report.Offset));
        Assert.Contains(nameof(AbandonOverrun), report.AllocationStackTrace);
        Assert.Null(report.ReturnStackTrace);
    }).Dispose();

    [Fact]
    public void CorruptionFound_OwnerDisposedByAUsersFinalizer_IsRaisedAndNotThrown() => RemoteExecutor.Invoke(static () =>
    {
        using BlockingCollection<CorruptionEventArgs> reports = [];
        MemoryDiagnostics.CorruptionFound += (_, report) => reports.Add(report);
        using TestSetup setup = Create(SafetyMode.Guarded);
        DropHolder(setup);
        Collect();
        Assert.True(reports.TryTake(out CorruptionEventArgs? report, TimeSpan.FromSeconds(30)));
        Assert.Equal(CorruptionKind.Overrun, report.Kind);
        Assert.Contains("Holder.Finalize", report.ReturnStackTrace);
        Assert.Equal((0L, 0L), (setup.Statistics.RentedBytes, setup.Statistics.OutstandingAllocations));

        // The finalizer of the guard, which comes second, has the memory handed back.
        Collect();
        Assert.True(SpinWait.SpinUntil(() => setup.Statistics.QuarantinedBytes == Page, TimeSpan.FromSeconds(30)));
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0), (setup.Statistics.CommittedBytes, setup.Source.LiveAllocations));
    }).Dispose();

    [Fact]
    public void CorruptionFound_Sampled_IsRaisedWithBothStacks() => RemoteExecutor.Invoke(static () =>
    {
        using BlockingCollection<CorruptionEventArgs> reports = [];
        EventHandler<CorruptionEventArgs> handler = (_, report) => reports.Add(report);
        MemoryDiagnostics.CorruptionFound += handler;
        using TestSetup setup = Create(SafetyMode.Sampled);
        Overrun(setup);
        Assert.True(reports.TryTake(out CorruptionEventArgs? report, TimeSpan.FromSeconds(30)));
        Assert.Contains(nameof(Overrun), report.AllocationStackTrace);
        Assert.Contains(nameof(Overrun), report.ReturnStackTrace);
        Assert.Contains(
            "A byte was changed 1 byte past the end of a buffer of 100 bytes. It was found 0 ms after the allocation.", report.ToString());

        MemoryDiagnostics.CorruptionFound -= handler;
        Overrun(setup);
        Assert.Empty(reports);
        Assert.Null(AllocationRecords.CurrentPath);
    }).Dispose();

    [Fact]
    public void Allocator_DroppedWithoutDispose_ReleasesReturnedMemory() => RemoteExecutor.Invoke(static () =>
    {
        FakeMemorySource source = DropAllocator();
        Collect();
        Assert.True(SpinWait.SpinUntil(() => source.LiveAllocations == 0, TimeSpan.FromSeconds(30)));
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AbandonGroup(TestSetup setup) => setup.Allocator.AllocateGroup<byte>(3 * Block).Fill(1);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AbandonOverrun(TestSetup setup) => Change(AddressOf(setup.Allocator.Allocate<byte>(100)) + 100);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Overrun(TestSetup setup)
    {
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(100);
        Change(AddressOf(owner) + 100);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropHolder(TestSetup setup)
    {
        Holder holder = new(setup.Allocator.Allocate<byte>(100));
        Change(AddressOf(holder.Owned) + 100);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static FakeMemorySource DropAllocator()
    {
        TestSetup setup = Create(SafetyMode.Guarded);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal(1, setup.Source.LiveAllocations);
        return setup.Source;
    }

    // In Sampled mode there is no file.
    private static int Count(AllocationRecordState state) => AllocationRecords.CurrentPath is { } path
        ? AllocationRecords.Open(path).Records.Count(record => record.State == state)
        : 0;

    private static void Collect() => QueuedWork.Collect();

    // The collector promises no order of finalizers. This one runs before its guard's, because that has none until then.
    private sealed class Holder
    {
        private readonly object _guard;

        public Holder(IMemoryOwner<byte> owned)
        {
            Owned = owned;
            _guard = owned.GetType().GetField("_guard", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(owned)!;
            GC.SuppressFinalize(_guard);
        }

        ~Holder()
        {
            Owned.Dispose();
            GC.ReRegisterForFinalize(_guard);
        }

        public IMemoryOwner<byte> Owned { get; }
    }
}
