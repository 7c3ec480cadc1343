using Allocator.Allocators;
using Allocator.Budgeting;
using Allocator.Pooling;
using Allocator.Trimming;

namespace Allocator.Tests.Fakes;

/// <summary>
/// An allocator that works in kilobytes and in no time: 1 KiB arrays, 16 KiB blocks, 128 KiB segments, and all around it replaced.
/// </summary>
internal sealed class TestSetup : IDisposable
{
    public const int ArrayThreshold = 1024;
    public const int BlockSize = 16 * 1024;
    public const int SegmentSize = 8 * BlockSize;

    private readonly SystemMemory _pressure;
    private readonly ProcessHeadroom _headroom;
    private readonly StrongBox<int> _collections = new();
    private readonly StrongBox<Action?> _onCollect = new();

    public TestSetup(
        int maximumBlocks = 16, MemoryAllocatorOptions? options = null, NativeMemorySource? source = null,
        TestSetup? sharesTimeWith = null, bool watchesCollections = false,
        Action<IBackgroundWork>? runCallbacks = null, long? budget = null, SystemMemory? pressure = null, Random? jitter = null,
        int blockSize = BlockSize, NativeMemorySource? smallSource = null, long minimumFree = 0, FakeHeadroom? left = null,
        bool watchesLoad = false)
    {
        // Not this: the timer of the process knows no allocator either, or a dropped one would never be collected.
        StrongBox<int> collections = _collections;
        StrongBox<Action?> onCollect = _onCollect;
        Clock = sharesTimeWith?.Clock ?? new FakeClock();
        Pressure = sharesTimeWith?.Pressure ?? new FakePressure();
        _pressure = pressure ?? Pressure;
        Left = left ?? sharesTimeWith?.Left ?? new FakeHeadroom();
        _headroom = sharesTimeWith?._headroom ?? new ProcessHeadroom(Left, Clock);
        Scheduler = sharesTimeWith?.Scheduler ?? new TrimTimer(Clock, Collect, watchesCollections)
        { Jitter = jitter, RunCallbacks = runCallbacks ?? UserCallbacks.Thread.Run };
        Source = source as FakeMemorySource ?? new FakeMemorySource();
        Settings = Describe(
            maximumBlocks, options ?? new MemoryAllocatorOptions(), source ?? Source, smallSource, budget, blockSize, minimumFree,
            watchesLoad);
        Allocator = new PooledMemoryAllocator(Settings);

        void Collect()
        {
            collections.Value++;
            onCollect.Value?.Invoke();
        }
    }

    public FakeClock Clock { get; }

    public FakePressure Pressure { get; }

    /// <summary>Gets what the container leaves: everything, until a test says otherwise.</summary>
    public FakeHeadroom Left { get; }

    public TrimTimer Scheduler { get; }

    public FakeMemorySource Source { get; }

    public AllocatorSettings Settings { get; }

    public MemoryAllocator Allocator { get; }

    /// <summary>Sets what happens in each Gen2 collection.</summary>
    public Action? OnCollect
    {
        set => _onCollect.Value = value;
    }

    /// <summary>Gets how often a Gen2 collection was asked for.</summary>
    public int Collections => _collections.Value;

    /// <summary>Waits until that many were asked for: those that renters ask for are made on another thread.</summary>
    public bool HasCollected(int times) =>
        SpinWait.SpinUntil(() => Volatile.Read(ref _collections.Value) == times, TimeSpan.FromSeconds(30));

    public MemoryAllocatorStatistics Statistics => Allocator.GetStatistics();

    /// <summary>Gets whether all that the system has given lies idle.</summary>
    public bool AllIsIdle => Statistics is { } now && now.CommittedBytes == now.RetainedBytes;

    public void Dispose() => Allocator.Dispose();

    private AllocatorSettings Describe(
        int maximumBlocks, MemoryAllocatorOptions options, NativeMemorySource source, NativeMemorySource? smallSource, long? budget,
        int blockSize, long minimumFree, bool watchesLoad) =>
        new(options)
        {
            ArrayThresholdInBytes = ArrayThreshold,
            SegmentSizeInBytes = SegmentSize / BlockSize * blockSize,
            Geometry = new PoolGeometry(blockSize, maximumBlocks),
            Source = source,
            SmallSource = smallSource ?? source,
            GuardedMappingSource = source as VirtualMemorySource ?? Source,
            MemoryBudgetInBytes = budget,
            Clock = Clock,
            Pressure = _pressure,
            Headroom = _headroom,
            MinimumFreeBytes = minimumFree,
            WatchesLoad = watchesLoad,
            HeapTrimmer = null,
            Scheduler = Scheduler,
        };
}
