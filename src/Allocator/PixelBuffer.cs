using Allocator.Lifetime;

namespace Allocator;

/// <summary>The pixels of an image, reached through delegates, so that no span outlives its memory. Disposed by its owner.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <remarks>
/// While a delegate runs the memory stays, even if the buffer is disposed meanwhile, by the delegate itself or another thread: it goes back
/// when the delegate returns. Several delegates may run at once; callers must see to it that they do not write to the same pixels.
/// </remarks>
public sealed partial class PixelBuffer<TPixel> : IDisposable, IRented
    where TPixel : unmanaged
{
    // AggressiveOptimization, which netstandard2.0 does not name. Otherwise the runtime profiles the call and inlines the delegate beside a
    // copy of the accessor, with too few registers for both: a loop over rows then takes four times as long.
    private const MethodImplOptions CallsDelegate = (MethodImplOptions)512;

    private readonly MemoryAllocator _allocator;
    private readonly MemoryGroup<byte> _group = new(nameof(PixelBuffer<>));
    private readonly int _rowAlignmentInBytes;
    private PixelRows _rows;

    internal PixelBuffer(MemoryAllocator allocator, in PixelRows rows, int rowAlignmentInBytes)
    {
        _allocator = allocator;
        _rows = rows;
        _rowAlignmentInBytes = rowAlignmentInBytes;
    }

    /// <summary>Gets the width in pixels.</summary>
    public int Width => _rows.Width;

    /// <summary>Gets the height in rows.</summary>
    public int Height => _rows.Height;

    /// <summary>
    /// Gets the pixels from the beginning of one row to the beginning of the next, within one block of memory; negative if the first row
    /// is the last in memory.
    /// </summary>
    /// <exception cref="InvalidOperationException">
    /// Rows are not a whole number of pixels apart: use <see cref="RowStrideInBytes"/>.
    /// </exception>
    public int RowStride => _rows.StrideInPixels(Unsafe.SizeOf<TPixel>());

    /// <summary>
    /// Gets the bytes from the beginning of one row to the beginning of the next, within one block of memory; negative if the first row is
    /// the last in memory. Other libraries call it step, pitch, line size or row bytes.
    /// </summary>
    public int RowStrideInBytes => (int)_rows.Stride;

    /// <summary>Gets whether all rows are one run of memory, <see cref="RowStrideInBytes"/> apart.</summary>
    public bool IsContiguous => _rows.RowsFrom(0) == Height;

    void IRented.Begin(in Allocation allocation) => Begin(allocation);

    internal void Begin(in Allocation allocation)
    {
        _group.Begin(allocation);
        if (!_group.IsContiguous)
        {
            _rows = _rows with { Map = new RowMap(_group.BlockLength / (int)_rows.Stride) };
        }
    }

    /// <summary>Calls a delegate with access to all rows.</summary>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ObjectDisposedException">A buffer has been disposed; nothing was called.</exception>
    /// <exception cref="InvalidOperationException">The buffer is used in 65,535 places at once: by delegates, pins and views.</exception>
    [MethodImpl(CallsDelegate)]
    public void ProcessPixelRows(PixelRowsAction<TPixel> action)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        action(Access(0, Height));
    }

    /// <summary>Calls a delegate with access to all rows, and a state that saves a closure.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    [MethodImpl(CallsDelegate)]
    public void ProcessPixelRows<TState>(PixelRowsAction<TPixel, TState> action, TState state)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        action(Access(0, Height), state);
    }

    /// <summary>Calls a delegate that only reads, with access to all rows.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    [MethodImpl(CallsDelegate)]
    public void ReadPixelRows(ReadOnlyPixelRowsAction<TPixel> action)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        action(Access(0, Height));
    }

    /// <summary>Calls a delegate that only reads, with access to all rows, and a state that saves a closure.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    [MethodImpl(CallsDelegate)]
    public void ReadPixelRows<TState>(ReadOnlyPixelRowsAction<TPixel, TState> action, TState state)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        action(Access(0, Height), state);
    }

    /// <summary>Calls a delegate with access to all rows of this buffer and another. The sizes may differ.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public void ProcessPixelRows<TOther>([Borrowed] PixelBuffer<TOther> other, PixelRowsPairAction<TPixel, TOther> action)
        where TOther : unmanaged
    {
        Throw.IfNull(action, nameof(action));
        ProcessPixelRows(other, [MethodImpl(CallsDelegate)] static (rows, others, action) => action(rows, others), action);
    }

    /// <summary>
    /// Calls a delegate with access to all rows of this buffer and another, and a state that saves a closure. The sizes may differ.
    /// </summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    [MethodImpl(CallsDelegate)]
    public void ProcessPixelRows<TOther, TState>(
        [Borrowed] PixelBuffer<TOther> other, PixelRowsPairAction<TPixel, TOther, TState> action, TState state)
        where TOther : unmanaged
    {
        Throw.IfNull(other, nameof(other));
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        using MemoryGroup<byte>.Reference otherReference = other._group.AddReference();
        action(Access(0, Height), other.Access(0, other.Height), state);
    }

    /// <summary>Calls a delegate with access to all rows of this buffer and two others. The sizes may differ.</summary>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    [MethodImpl(CallsDelegate)]
    public void ProcessPixelRows<TSecond, TThird>(
        [Borrowed] PixelBuffer<TSecond> second, [Borrowed] PixelBuffer<TThird> third,
        PixelRowsTripleAction<TPixel, TSecond, TThird> action)
        where TSecond : unmanaged
        where TThird : unmanaged
    {
        Throw.IfNull(second, nameof(second));
        Throw.IfNull(third, nameof(third));
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        using MemoryGroup<byte>.Reference secondReference = second._group.AddReference();
        using MemoryGroup<byte>.Reference thirdReference = third._group.AddReference();
        action(Access(0, Height), second.Access(0, second.Height), third.Access(0, third.Height));
    }

    /// <summary>Calls a delegate for bands of adjacent rows, on several threads at once. Every row is in one band.</summary>
    /// <param name="action">Called once a band; <see cref="PixelAccessor{TPixel}.FirstRow"/> is the first row of the band.</param>
    /// <param name="maxDegreeOfParallelism">The most bands, and so threads; -1 for one per processor.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxDegreeOfParallelism"/> is 0 or below -1.</exception>
    /// <exception cref="AggregateException">A delegate threw.</exception>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public void ProcessPixelRowsInParallel(PixelRowsAction<TPixel> action, int maxDegreeOfParallelism = -1) =>
        ProcessPixelRowsInParallel(action, maxDegreeOfParallelism, CancellationToken.None);

    /// <summary>Calls a delegate for bands of adjacent rows, on several threads at once, until it is cancelled.</summary>
    /// <param name="action">Called once a band; <see cref="PixelAccessor{TPixel}.FirstRow"/> is the first row of the band.</param>
    /// <param name="maxDegreeOfParallelism">The most bands, and so threads; -1 for one per processor.</param>
    /// <param name="cancellationToken">
    /// Once it is cancelled, no further band begins. A delegate that should end early checks the token itself.
    /// </param>
    /// <exception cref="OperationCanceledException"><paramref name="cancellationToken"/> was cancelled; some bands may be done.</exception>
    /// <inheritdoc cref="ProcessPixelRowsInParallel(PixelRowsAction{TPixel}, int)" path="/exception"/>
    public void ProcessPixelRowsInParallel(
        PixelRowsAction<TPixel> action, int maxDegreeOfParallelism, CancellationToken cancellationToken)
    {
        Throw.IfNull(action, nameof(action));
        ProcessPixelRowsInParallel(
            [MethodImpl(CallsDelegate)] static (rows, action) => action(rows), action, maxDegreeOfParallelism, cancellationToken);
    }

    /// <summary>Calls a delegate for bands of adjacent rows, on several threads at once, with a state that saves a closure.</summary>
    /// <param name="action">Called once a band; <see cref="PixelAccessor{TPixel}.FirstRow"/> is the first row of the band.</param>
    /// <param name="state">What each call gets. Several threads have it at once.</param>
    /// <param name="maxDegreeOfParallelism">The most bands, and so threads; -1 for one per processor.</param>
    /// <param name="cancellationToken">Once it is cancelled, no further band begins.</param>
    /// <inheritdoc cref="ProcessPixelRowsInParallel(PixelRowsAction{TPixel}, int, CancellationToken)" path="/exception"/>
    public void ProcessPixelRowsInParallel<TState>(
        PixelRowsAction<TPixel, TState> action, TState state, int maxDegreeOfParallelism = -1,
        CancellationToken cancellationToken = default)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        ForEachBand(
            [MethodImpl(CallsDelegate)] (firstRow, height) => action(Access(firstRow, height), state), maxDegreeOfParallelism,
            cancellationToken);
    }

    /// <summary>
    /// Calls a delegate for bands of adjacent rows of this buffer, on several threads at once. Each call also gets all rows of another
    /// buffer of any size, to read from.
    /// </summary>
    /// <param name="other">The buffer that all bands see whole.</param>
    /// <param name="action">Called once a band, with the band and the other buffer.</param>
    /// <param name="maxDegreeOfParallelism">The most bands, and so threads; -1 for one per processor.</param>
    /// <inheritdoc cref="ProcessPixelRowsInParallel(PixelRowsAction{TPixel}, int)" path="/exception"/>
    public void ProcessPixelRowsInParallel<TOther>(
        [Borrowed] PixelBuffer<TOther> other, PixelRowsPairAction<TPixel, TOther> action, int maxDegreeOfParallelism = -1)
        where TOther : unmanaged
    {
        Throw.IfNull(action, nameof(action));
        ProcessPixelRowsInParallel(
            other, [MethodImpl(CallsDelegate)] static (rows, others, action) => action(rows, others), action, maxDegreeOfParallelism);
    }

    /// <summary>As the overload without a state, with a state that saves a closure, until it is cancelled.</summary>
    /// <param name="other">The buffer that all bands see whole.</param>
    /// <param name="action">Called once a band, with the band and the other buffer.</param>
    /// <param name="state">What each call gets. Several threads have it at once.</param>
    /// <param name="maxDegreeOfParallelism">The most bands, and so threads; -1 for one per processor.</param>
    /// <param name="cancellationToken">Once it is cancelled, no further band begins.</param>
    /// <inheritdoc cref="ProcessPixelRowsInParallel(PixelRowsAction{TPixel}, int, CancellationToken)" path="/exception"/>
    public void ProcessPixelRowsInParallel<TOther, TState>(
        [Borrowed] PixelBuffer<TOther> other, PixelRowsPairAction<TPixel, TOther, TState> action, TState state,
        int maxDegreeOfParallelism = -1, CancellationToken cancellationToken = default)
        where TOther : unmanaged
    {
        Throw.IfNull(other, nameof(other));
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        using MemoryGroup<byte>.Reference otherReference = other._group.AddReference();
        ForEachBand(
            [MethodImpl(CallsDelegate)] (firstRow, height) => action(Access(firstRow, height), other.Access(0, other.Height), state),
            maxDegreeOfParallelism,
            cancellationToken);
    }

    /// <summary>
    /// Returns a view of a part of the pixels, without a copy. It shares the ownership: the memory goes back when this buffer and all
    /// views are disposed, in any order, so other threads can have parts.
    /// </summary>
    /// <param name="x">The first column, from 0.</param>
    /// <param name="y">The first row, from 0.</param>
    /// <param name="width">The width in pixels, at least 1.</param>
    /// <param name="height">The height in rows, at least 1.</param>
    /// <returns>The view, which the caller disposes. It ends with its own <c>Dispose</c>, not with that of this buffer.</returns>
    /// <remarks>
    /// Costs some small objects. A view has all members of a pixel buffer; a <c>Clone</c> of it is packed into memory of its own. Within
    /// a delegate, <see cref="PixelAccessor{TPixel}.Slice"/> costs less.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The part is empty, or not within this buffer.</exception>
    /// <exception cref="InvalidOperationException">There are 65,535 views, pins and uses already.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    [return: OwnedBuffer]
    public PixelBuffer<TPixel> Crop(int x, int y, int width, int height)
    {
        Throw.IfNotWithin(x, Width - 1, nameof(x));
        Throw.IfNotWithin(y, Height - 1, nameof(y));
        Throw.IfBelowOne(width, nameof(width));
        Throw.IfBelowOne(height, nameof(height));
        Throw.IfNotWithin(width, Width - x, nameof(width));
        Throw.IfNotWithin(height, Height - y, nameof(height));
        return View<TPixel>(_rows.Slice(x, y, width, height, Unsafe.SizeOf<TPixel>()));
    }

    /// <summary>Returns a view of the same rows as bytes: as wide as the bytes of a row of pixels. It shares the ownership.</summary>
    /// <remarks>Costs some small objects; no memory is taken or copied.</remarks>
    /// <inheritdoc cref="Crop" path="/returns | /exception[not(contains(@cref, 'Range'))]"/>
    [return: OwnedBuffer]
    public PixelBuffer<byte> AsBytes() => View<byte>(_rows with { Width = Width * Unsafe.SizeOf<TPixel>() });

    /// <summary>Returns a view of the same rows as pixels of another type of the same size. It shares the ownership.</summary>
    /// <typeparam name="TTo">That type: <see cref="uint"/> for pixels of four bytes, for instance.</typeparam>
    /// <remarks>Costs some small objects; no memory is taken or copied.</remarks>
    /// <exception cref="ArgumentException"><typeparamref name="TTo"/> has another size.</exception>
    /// <inheritdoc cref="Crop" path="/returns | /exception[not(contains(@cref, 'Range'))]"/>
    [return: OwnedBuffer]
    public PixelBuffer<TTo> Cast<TTo>()
        where TTo : unmanaged
    {
        Throw.IfOtherSize<TTo>(Unsafe.SizeOf<TPixel>());
        return View<TTo>(_rows);
    }

    /// <summary>Calls a delegate with all pixels as one span, if they are contiguous, packed, and not too long for one.</summary>
    /// <returns>False if they are not; then nothing was called.</returns>
    /// <inheritdoc cref="ProcessPixelRows(PixelRowsAction{TPixel})" path="/exception"/>
    public bool TryProcessSinglePixelSpan(PixelSpanAction<TPixel> action)
    {
        Throw.IfNull(action, nameof(action));
        using MemoryGroup<byte>.Reference reference = _group.AddReference();
        if (!_rows.IsPacked(Unsafe.SizeOf<TPixel>()) || !TryGetSingleLength(out int length))
        {
            return false;
        }

        action(Access(0, Height).GetSpan(0, length));
        return true;
    }

    /// <summary>
    /// Returns all rows as one memory, <see cref="RowStride"/> pixels apart, if they are contiguous, a positive whole number of pixels
    /// apart, and not longer than a span can be. Its lifetime is left to the caller: spans of it must not be used after
    /// <see cref="Dispose"/>.
    /// </summary>
    /// <returns>False if they are not.</returns>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public bool DangerousTryGetSingleMemory(out Memory<TPixel> memory)
    {
        _group.ThrowIfDisposed();
        bool isSingle = TryGetSingleLength(out int length);
        memory = isSingle ? new RowMemory<TPixel>(this, 0, length).Memory : default;
        return isSingle;
    }

    /// <summary>Returns the pixels of one row. The caller keeps the buffer alive and does not dispose it while the span is used.</summary>
    /// <param name="y">From 0 to <see cref="Height"/> - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="y"/> is not in that range.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public Span<TPixel> DangerousGetRowSpan(int y)
    {
        ThrowIfNotRow(y);
        return DangerousGetSpan(y, Width);
    }

    /// <summary>
    /// Returns one row as memory, for asynchronous code: reading a file into it, for instance. The caller keeps the buffer alive, and does
    /// not dispose it meanwhile; spans of it must not be used after <see cref="Dispose"/>.
    /// </summary>
    /// <param name="y">From 0 to <see cref="Height"/> - 1.</param>
    /// <returns>The row, in an array or in unmanaged memory. Costs one small object. After <see cref="Dispose"/> it throws.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="y"/> is not in that range.</exception>
    /// <exception cref="ObjectDisposedException">The buffer has been disposed.</exception>
    public Memory<TPixel> DangerousGetRowMemory(int y)
    {
        ThrowIfNotRow(y);
        _group.ThrowIfDisposed();
        return new RowMemory<TPixel>(this, y, Width).Memory;
    }

    /// <summary>
    /// Returns the memory as soon as nothing pins it, no delegate works on it, and all views are disposed. Never blocks; may be repeated.
    /// </summary>
    /// <exception cref="MemoryCorruptedException">In Guarded mode: a byte around the memory was changed. It has been returned.</exception>
    public void Dispose() => _group.Dispose();

    /// <summary>Describes the image in a line: its pixel type, its size, its blocks, and how long it has been outstanding.</summary>
    public override string ToString() =>
        Invariant($"{nameof(PixelBuffer<>)}<{typeof(TPixel).Name}> {Width} × {Height}, {_group.DescribeMemory()}");

    /// <summary>Gets the bytes, which end with this buffer.</summary>
    internal MemoryGroup<byte> Group => _group;

    private PixelBuffer<TTo> View<TTo>(in PixelRows rows)
        where TTo : unmanaged
    {
        PixelBuffer<TTo> view = new(_allocator, rows, _rowAlignmentInBytes);
        view._group.BeginView(_group);
        return view;
    }

    private void ForEachBand(Action<int, int> action, int maxDegreeOfParallelism, CancellationToken cancellationToken)
    {
        bool isDegree = maxDegreeOfParallelism is -1 or >= 1;
        Throw.Unless(isDegree, nameof(maxDegreeOfParallelism), maxDegreeOfParallelism, "must be -1 or at least 1");
        int bands = Math.Min(Height, maxDegreeOfParallelism == -1 ? Environment.ProcessorCount : maxDegreeOfParallelism);
        ParallelOptions options = new()
        {
            MaxDegreeOfParallelism = bands,
            TaskScheduler = RowScheduler.Shared,
            CancellationToken = cancellationToken,
        };
        Parallel.For(0, bands, options, band =>
        {
            int firstRow = (int)((long)Height * band / bands);
            int endRow = (int)((long)Height * (band + 1) / bands);
            action(firstRow, endRow - firstRow);
        });
    }

    private void ThrowIfNotRow(int y)
    {
        if ((uint)y >= (uint)Height)
        {
            Throw.RowOutOfRange(y, Height);
        }
    }

    // With a reference held.
    private PixelAccessor<TPixel> Access(int firstRow, int height)
    {
        nint first = _group.FirstAddress();
        return Access(first, first == 0 && _group.Layout.IsSingle ? _group.MemberSpan(0) : default, firstRow, height);
    }

    private PixelAccessor<TPixel> Access(nint first, Span<byte> array, int firstRow, int height) => new(
        first, array, _group.Layout.Gap, _group.Layout.Origins, _rows with { Top = _rows.Top + firstRow, Height = height }, _rows.Top);
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
