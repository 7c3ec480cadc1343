using Allocator.Lifetime;

namespace Allocator;

/// <summary>The pixels of an image, reached through delegates, so that no span outlives its memory. Disposed by its owner.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <remarks>
/// While a delegate runs the memory stays, even if the buffer is disposed meanwhile, by the delegate itself or another thread: it goes
/// back when the delegate returns. Several delegates may run at once; that they do not write to the same pixels is the callers' concern.
/// </remarks>
public sealed partial class PixelBuffer<TPixel> : IDisposable, IRented
    where TPixel : unmanaged
{
    private readonly MemoryAllocator _allocator;
    private readonly MemoryGroup<TPixel> _group = new();
    private RowMap _map;
    private readonly int _rowAlignmentInBytes;

    internal PixelBuffer(MemoryAllocator allocator, int width, int height, int rowStride, int rowAlignmentInBytes)
    {
        _allocator = allocator;
        _rowAlignmentInBytes = rowAlignmentInBytes;
        Width = width;
        Height = height;
        RowStride = rowStride;
    }

    /// <summary>Gets the width in pixels.</summary>
    public int Width { get; }

    /// <summary>Gets the height in rows.</summary>
    public int Height { get; }

    /// <summary>Gets the pixels from the beginning of one row to the beginning of the next, within one block of memory.</summary>
    public int RowStride { get; }

    /// <summary>Gets whether all rows are one run of memory, <see cref="RowStride"/> pixels apart.</summary>
    public bool IsContiguous => _group.IsContiguous;

    void IRented.Begin(in Allocation allocation) => Begin(allocation);

    internal void Begin(in Allocation allocation)
    {
        _group.Begin(allocation);
        _map = _group.Layout.IsSingle ? default : new RowMap(_group.BlockLength / RowStride);
    }

    /// <summary>Calls a delegate with access to all rows.</summary>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ObjectDisposedException">A buffer has been disposed; nothing was called.</exception>
    public void ProcessPixelRows(PixelRowsAction<TPixel> action)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        action(Access(0, Height));
    }

    /// <summary>Calls a delegate with access to all rows, and a state that saves a closure.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public void ProcessPixelRows<TState>(PixelRowsAction<TPixel, TState> action, TState state)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        action(Access(0, Height), state);
    }

    /// <summary>Calls a delegate with access to all rows of this buffer and another. The sizes may differ.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public void ProcessPixelRows<TOther>([Borrowed] PixelBuffer<TOther> other, PixelRowsPairAction<TPixel, TOther> action)
        where TOther : unmanaged
    {
        Throw.IfNull(other, nameof(other));
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        using MemoryGroup<TOther>.Reference otherReference = other._group.AddReference();
        action(Access(0, Height), other.Access(0, other.Height));
    }

    /// <summary>Calls a delegate with access to all rows of this buffer and two others. The sizes may differ.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public void ProcessPixelRows<TSecond, TThird>(
        [Borrowed] PixelBuffer<TSecond> second, [Borrowed] PixelBuffer<TThird> third,
        PixelRowsTripleAction<TPixel, TSecond, TThird> action)
        where TSecond : unmanaged
        where TThird : unmanaged
    {
        Throw.IfNull(second, nameof(second));
        Throw.IfNull(third, nameof(third));
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        using MemoryGroup<TSecond>.Reference secondReference = second._group.AddReference();
        using MemoryGroup<TThird>.Reference thirdReference = third._group.AddReference();
        action(Access(0, Height), second.Access(0, second.Height), third.Access(0, third.Height));
    }

    /// <summary>Calls a delegate for bands of adjacent rows, on several threads at once. Every row is in one band.</summary>
    /// <param name="action">Called once a band; <see cref="PixelAccessor{TPixel}.FirstRow"/> is the first row of the band.</param>
    /// <param name="maxDegreeOfParallelism">The most bands, and so threads; -1 for one each processor.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxDegreeOfParallelism"/> is 0 or below -1.</exception>
    /// <exception cref="AggregateException">A delegate threw.</exception>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public void ProcessPixelRowsInParallel(PixelRowsAction<TPixel> action, int maxDegreeOfParallelism = -1)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        ForEachBand((firstRow, height) => action(Access(firstRow, height)), maxDegreeOfParallelism);
    }

    /// <summary>
    /// Calls a delegate for bands of adjacent rows of this buffer, on several threads at once. Each call also gets all rows of another
    /// buffer of any size, to read from.
    /// </summary>
    /// <param name="other">The buffer that all bands see whole.</param>
    /// <param name="action">Called once a band, with the band and the other buffer.</param>
    /// <param name="maxDegreeOfParallelism">How many bands, and so threads, there are at most; -1 for one each processor.</param>
    /// <inheritdoc cref="ProcessPixelRowsInParallel(PixelRowsAction{TPixel}, int)" path="/exception"/>
    public void ProcessPixelRowsInParallel<TOther>(
        [Borrowed] PixelBuffer<TOther> other, PixelRowsPairAction<TPixel, TOther> action, int maxDegreeOfParallelism = -1)
        where TOther : unmanaged
    {
        Throw.IfNull(other, nameof(other));
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        using MemoryGroup<TOther>.Reference otherReference = other._group.AddReference();
        ForEachBand((firstRow, height) => action(Access(firstRow, height), other.Access(0, other.Height)), maxDegreeOfParallelism);
    }

    /// <summary>Calls a delegate with all pixels as one span, if they are contiguous, packed, and not too long for one.</summary>
    /// <returns>False if they are not; then nothing was called.</returns>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public bool TryProcessSinglePixelSpan(PixelSpanAction<TPixel> action)
    {
        Throw.IfNull(action, nameof(action));
        _group.ThrowIfDisposed();
        if (_group.Count > 1 || RowStride != Width)
        {
            return false;
        }

        using MemoryGroup<TPixel>.Reference reference = _group.AddReference();
        action(_group.MemberSpan(0));
        return true;
    }

    /// <summary>
    /// Returns all rows as one memory, <see cref="RowStride"/> pixels apart, if they are contiguous and not longer than a span can be.
    /// Its lifetime is left to the caller: spans of it must not be used after <see cref="Dispose"/>.
    /// </summary>
    /// <returns>False if they are not.</returns>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public bool DangerousTryGetSingleMemory(out Memory<TPixel> memory)
    {
        _group.ThrowIfDisposed();
        memory = _group.Count == 1 ? _group[0] : default;
        return _group.Count == 1;
    }

    /// <summary>Returns the pixels of one row. The caller keeps the buffer alive and does not dispose it while the span is used.</summary>
    /// <param name="y">From 0 to <see cref="Height"/> - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="y"/> is not in that range.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public Span<TPixel> DangerousGetRowSpan(int y)
    {
        // The address first, by a volatile read: it is this buffer's if the buffer is still held after that.
        nint first = _group.FirstAddress();
        Span<TPixel> array = first == 0 && _group.Layout.IsSingle ? _group.GetMemberSpan(0) : default;
        _group.ThrowIfDisposed();
        return Access(first, array, 0, Height).GetRowSpan(y);
    }

    /// <summary>Returns the memory as soon as nothing pins it and no delegate works on it. Never blocks; may be repeated.</summary>
    public void Dispose() => _group.Dispose();

    /// <summary>Describes the image in a line: its pixel type, its size, its blocks, and how long it has been outstanding.</summary>
    public override string ToString() =>
        Invariant($"{nameof(PixelBuffer<>)}<{typeof(TPixel).Name}> {Width} × {Height}, {_group.DescribeMemory()}");

    private void ForEachBand(Action<int, int> action, int maxDegreeOfParallelism)
    {
        bool isDegree = maxDegreeOfParallelism is -1 or >= 1;
        Throw.Unless(isDegree, nameof(maxDegreeOfParallelism), maxDegreeOfParallelism, "must be -1 or at least 1");
        int bands = Math.Min(Height, maxDegreeOfParallelism == -1 ? Environment.ProcessorCount : maxDegreeOfParallelism);
        Parallel.For(0, bands, new ParallelOptions { MaxDegreeOfParallelism = bands, TaskScheduler = RowScheduler.Shared }, band =>
        {
            int firstRow = (int)((long)Height * band / bands);
            int endRow = (int)((long)Height * (band + 1) / bands);
            action(firstRow, endRow - firstRow);
        });
    }

    // With a reference held.
    private PixelAccessor<TPixel> Access(int firstRow, int height)
    {
        nint first = _group.FirstAddress();
        return Access(first, first == 0 && _group.Layout.IsSingle ? _group.MemberSpan(0) : default, firstRow, height);
    }

    private PixelAccessor<TPixel> Access(nint first, Span<TPixel> array, int firstRow, int height) =>
        new(first, array, _group.Layout, _map, RowStride) { Width = Width, FirstRow = firstRow, Height = height };
}

/// <summary>
/// Runs the bands of an image on the thread pool, or on the thread that waits for them. <see cref="Parallel"/> waits for every task that
/// it has queued, even if no band is left, and all threads of the pool may be blocked, waiting for the memory of that very image.
/// </summary>
internal sealed class RowScheduler : TaskScheduler
{
    public static RowScheduler Shared { get; } = new();

    // The task itself carries the flow of execution. False from a second attempt: the thread that waits was faster.
    protected override void QueueTask(Task task) => ThreadPool.UnsafeQueueUserWorkItem(_ => TryExecuteTask(task), null);

    // False if it has begun on another thread; the caller then waits for that thread.
    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => TryExecuteTask(task);

    // For debuggers.
    protected override IEnumerable<Task> GetScheduledTasks() => [];
}
