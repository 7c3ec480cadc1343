using System.Diagnostics;
using System.Diagnostics.Tracing;

namespace Allocator.Tests.Diagnostics;

public class AllocatorEventSourceTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void AllocationAbandoned_WhileListenedTo_IsWrittenWithItsPlace() => RemoteExecutor.Invoke(static () =>
    {
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Trimming);
        MemoryDiagnostics.LeakDetection = LeakDetection.AllStacks;
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Name = "photos" });
        LeakHere(allocator);
        Assert.True(SpinWait.SpinUntil(CollectAndLook, s_patience));

        EventWrittenEventArgs leak = listener.Take();

        Assert.Equal(("AllocationAbandoned", 4_194_304L), (leak.EventName, leak.Payload![0]));
        Assert.Contains(nameof(LeakHere), (string)leak.Payload[2]!, StringComparison.Ordinal);
        Assert.Equal("photos", leak.Payload[3]);
        Assert.Equal([1L, 4_194_304L], leak.Payload.Skip(4));
        Assert.Equal(
            ["bytes", "ageMilliseconds", "allocationStackTrace", "allocatorName", "leaksThere", "bytesThere"], leak.PayloadNames!);
    }).Dispose();

    [Fact]
    public unsafe void CorruptionFound_WhileListenedTo_IsWrittenInWords() => RemoteExecutor.Invoke(static () =>
    {
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Trimming);
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { Safety = SafetyMode.Sampled, SafetySampleInterval = 1 });
        using (IMemoryOwner<byte> owner = allocator.Allocate<byte>(100))
        using (MemoryHandle pin = owner.Memory.Pin())
        {
            ((byte*)pin.Pointer)[100]++;
        }

        EventWrittenEventArgs corruption = listener.Take();

        Assert.Equal(("CorruptionFound", 100L, 100L), (corruption.EventName, corruption.Payload![0], corruption.Payload[1]));
        Assert.StartsWith(
            "A byte was changed 1 byte past the end of a buffer of 100 bytes.", (string)corruption.Payload[2]!, StringComparison.Ordinal);
    }).Dispose();

    // Also if a listener of the trace throws: once is enough.
    [Fact]
    public void RecordsUnavailable_FolderThatIsNotThere_IsWrittenAndGuardingGoesOn()
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_RECORDS"] = "/nowhere/at/all/x.records" } };
        RemoteExecutor.Invoke(
            static () =>
            {
                using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Trimming);
                using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
                _ = Trace.Listeners.Add(new DefaultTraceListener { Filter = new Throwing() });
                using IMemoryOwner<byte> owner = allocator.Allocate<byte>(100);
                allocator.Allocate<byte>(100).Dispose();

                EventWrittenEventArgs warning = listener.Take();

                Assert.Equal("RecordsUnavailable", warning.EventName);
                Assert.Contains("nowhere", (string)warning.Payload![0]!, StringComparison.Ordinal);
            },
            options).Dispose();
    }

    [Fact]
    public void MemoryTrimmed_WhileListenedTo_SaysWhyAndHowShortMemoryIs() => RemoteExecutor.Invoke(static () =>
    {
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Trimming);
        using TestSetup setup = new(16, new MemoryAllocatorOptions { Name = "thumbnails" });
        setup.Allocator.AllocateGroup<byte>(9 * TestSetup.BlockSize).Dispose();
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        EventWrittenEventArgs period = listener.Take();
        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        EventWrittenEventArgs highLoad = listener.Take();

        // Nothing is left, so nothing is said.
        setup.Clock.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(0, listener.Waiting);

        Assert.Equal((5, "MemoryTrimmed", EventLevel.Informational), (period.EventId, period.EventName, period.Level));
        Assert.Equal(["bytes", "reason", "source", "usedBytes", "totalBytes", "allocatorName"], period.PayloadNames!);
        Assert.Equal([5L * TestSetup.BlockSize, "Period", "Machine", 5L, 100L, "thumbnails"], period.Payload!);
        Assert.Equal([4L * TestSetup.BlockSize, "HighLoad", "Machine", 95L, 100L, "thumbnails"], highLoad.Payload!);
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LeakHere(MemoryAllocator allocator) => allocator.Allocate<byte>(3_000_000);

    private static bool CollectAndLook()
    {
        QueuedWork.Collect();
        return MemoryDiagnostics.AbandonedAllocations == 1;
    }

    private sealed class Throwing : TraceFilter
    {
        public override bool ShouldTrace(
            TraceEventCache? cache, string source, TraceEventType type, int id, string? format, object?[]? args, object? data,
            object?[]? all) =>
            throw new InvalidOperationException("A listener's own fault.");
    }
}
