namespace Allocator.Tests.Pooling;

/// <summary>Hooks of an allocator that is not disposed, or that their own object holds.</summary>
public class DroppedHooksTests
{
    [Fact]
    public void Releasing_AllocatorDropped_ComesOnTheThreadOfCallbacks() => RemoteExecutor.Invoke(static () =>
    {
        using ManualResetEventSlim released = new();
        bool onThread = false;
        Drop(_ =>
        {
            onThread = UserCallbacks.Thread.IsCurrent;
            released.Set();
        });
        for (int i = 0; i < 100 && !released.Wait(100); i++)
        {
            QueuedWork.Collect();
        }

        Assert.True(released.IsSet);
        Assert.True(onThread);
    }).Dispose();

    // What registers blocks usually has the allocator too: what references the hooks for ever keeps both.
    [Fact]
    public void Hooks_OfAnObjectThatHoldsTheAllocator_KeepNeitherAlive() => RemoteExecutor.Invoke(static () =>
    {
        WeakReference device = DropDevice();
        for (int i = 0; i < 100 && device.IsAlive; i++)
        {
            QueuedWork.Collect();
        }

        Assert.False(device.IsAlive);
    }).Dispose();

    [Fact]
    public void Hooks_DisposedWhileTheirObjectHoldsABuffer_HideNoLeak() => RemoteExecutor.Invoke(static () =>
    {
        DropDisposed();
        for (int i = 0; i < 100 && MemoryDiagnostics.AbandonedAllocations == 0; i++)
        {
            QueuedWork.Collect();
        }

        Assert.Equal(1, MemoryDiagnostics.AbandonedAllocations);
    }).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropDisposed()
    {
        Device device = new();
        device.Kept = device.Allocator.Allocate<byte>(2 << 20);
        device.Allocator.Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference DropDevice()
    {
        Device device = new();
        device.Allocator.Prewarm(1);
        return new WeakReference(device);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(Action<nint> released) =>
        MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 8, BlockReleasing = (address, _) => released(address) }).Prewarm(1);

    private sealed class Device
    {
        public Device() => Allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = 8,
            BlockCommitted = (_, _) => Blocks++,
            BlockReleasing = (_, _) => Blocks--,
        });

        public MemoryAllocator Allocator { get; }

        public int Blocks { get; private set; }

        public IMemoryOwner<byte>? Kept { get; set; }
    }
}
