using Allocator.Adapters;
using Allocator.Allocators;
using Allocator.Budgeting;
using Allocator.Lifetime;

namespace Allocator;

/// <content>The allocator as a memory pool, an array pool, a stream and other types that libraries accept.</content>
public abstract partial class MemoryAllocator
{
    /// <summary>Returns this allocator as a <see cref="MemoryPool{T}"/>, for <c>System.IO.Pipelines</c> and similar code.</summary>
    /// <typeparam name="T">The element type; it contains no references.</typeparam>
    /// <returns>
    /// A pool whose <c>Rent</c> allocates here, with exactly the requested length, or about 4 KB by default. It owns nothing: disposing it
    /// ends only its own <c>Rent</c>, neither this allocator nor outstanding memory.
    /// </returns>
    /// <remarks>
    /// Costs one object, which threads can share. Its <c>MaxBufferSize</c> is the limit for one allocation. Up to 1 MiB its memory is a
    /// managed array, in <see cref="SafetyMode.Sampled"/> mode too, so <see cref="MemoryMarshal.TryGetArray{T}"/> succeeds for bytes. In
    /// <see cref="SafetyMode.Guarded"/> mode it is never an array: servers that need one, such as Kestrel, cannot be tested with that.
    /// </remarks>
    /// <exception cref="ArgumentException"><typeparamref name="T"/> contains references.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    public MemoryPool<T> AsMemoryPool<T>()
        where T : struct
    {
        ThrowIfContainsReferences<T>();
        int size = Unsafe.SizeOf<T>();
        return new AllocatorMemoryPool<T>(this, (int)Math.Min(int.MaxValue, GetPipeline().Settings.AllocationLimitInBytes / size), size);
    }

    /// <summary>
    /// Returns this allocator as an <see cref="ArrayPool{T}"/>, for libraries that take one: its arrays are counted, and belong to the
    /// budget or the reservation.
    /// </summary>
    /// <returns>A pool that owns nothing. It has no <c>Dispose</c>, and accepts arrays after this allocator was disposed.</returns>
    /// <remarks>
    /// <para>
    /// Costs one object, which threads can share. Arrays can be returned to any such pool of this allocator and its reservations.
    /// </para>
    /// <para>
    /// Arrays of every length up to 1 GiB are managed memory in every safety mode, <see cref="SafetyMode.Guarded"/> too. They are rounded
    /// up to a power of two, unless only the exact length fits the limits. They come from an array pool of the allocator's own, never
    /// <see cref="ArrayPool{T}.Shared"/>. That pool keeps idle at most an eighth of the limit on the allocator, or at most 64 MiB without
    /// a budget; trims drop those arrays.
    /// </para>
    /// <para>
    /// <c>Rent</c> throws what <see cref="Allocate{T}"/> does, and waits as it does; 0 gives an empty array. <c>Return</c> throws
    /// <see cref="ArgumentException"/> for an array that was not rented here, or has been returned and has no other renter yet. An array
    /// that is dropped instead goes to the collector, counts as abandoned, and leaves the budget.
    /// </para>
    /// </remarks>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    public ArrayPool<byte> AsArrayPool()
    {
        _ = GetPipeline();
        return new AllocatorArrayPool(this);
    }

    /// <summary>Makes a stream that grows in pooled blocks, for codecs. Bytes once written are never moved or copied.</summary>
    /// <param name="capacity">The bytes to take memory for now. The stream is empty all the same, and grows beyond that.</param>
    /// <returns>The stream, which the caller disposes.</returns>
    /// <remarks>
    /// Blocks double from 4 KB up to 4 MiB, or are smaller if only that fits the budget. Each is an allocation of its own, so the limit
    /// for one allocation applies to the growth by one call, not to the stream. A failure while it grows leaves it as it was. Blocks of
    /// up to 1 MiB are managed arrays, but not in <see cref="SafetyMode.Guarded"/> mode.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
    /// <inheritdoc cref="Allocate" path="/exception[not(contains(@cref, 'Argument'))]"/>
    [return: OwnedBuffer]
    public PooledMemoryStream CreateStream(long capacity = 0)
    {
        Throw.IfNegative(capacity, nameof(capacity));
        AllocatorSettings settings = GetPipeline().Settings;
        long limit = settings.AllocationLimitInBytes;
        int block = settings.Geometry.BlockSizeInBytes;
        GrowingMemory memory = new(
            this,
            settings.ArrayThresholdInBytes,
            block <= limit ? block : (int)Math.Min(settings.ArrayThresholdInBytes, limit),
            limit,
            Account?.Budget?.LimitInBytes ?? long.MaxValue);
        memory.Grow(capacity);
        return new PooledMemoryStream(memory, length: 0);
    }

    /// <summary>
    /// Makes functions for native codecs to call in place of <c>malloc</c> and <c>free</c>. Their memory is counted, and belongs to the
    /// budget or the reservation. A refused call returns a null pointer.
    /// </summary>
    /// <returns>The functions and their context, which the caller disposes when the codec has ended.</returns>
    /// <remarks>
    /// Called on a <see cref="MemoryReservation"/>, the memory is the reservation's. Within its reserved bytes none waits.
    /// Otherwise a request that the budget has no room for waits on the codec's thread before it is refused: for
    /// <see cref="MemoryAllocatorOptions.BudgetTimeout"/>, in a job by name for at least 30 s.
    /// </remarks>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    [return: OwnedBuffer]
    public NativeAllocationCallbacks CreateNativeCallbacks()
    {
        _ = GetPipeline();
        return new NativeAllocationCallbacks(this);
    }

    /// <summary>
    /// Makes a pixel buffer of memory that the caller owns. Nothing is copied, and neither statistics nor a budget count it.
    /// </summary>
    /// <typeparam name="TPixel">The pixel type.</typeparam>
    /// <param name="pixels">The memory, row after row: at most 2 GiB. Native memory of any length is wrapped by its address.</param>
    /// <param name="width">The width in pixels, at least 1.</param>
    /// <param name="height">The height in rows, at least 1.</param>
    /// <param name="rowStride">
    /// The pixels from the beginning of one row to that of the next, at least the width. Gaps are never written to.
    /// </param>
    /// <param name="release">
    /// Called once when the buffer has been disposed and nothing pins or uses it any more, on the thread that ends the last use; in
    /// <c>owner.Dispose</c>, for instance. Not called if the buffer is dropped without <c>Dispose</c>, or if this method throws. It must
    /// not throw if the buffer is handed off: no exception can pass native code.
    /// </param>
    /// <returns>The buffer, which the caller disposes. The memory must stay valid until then. A <c>Clone</c> is allocated here.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The width or the height is below 1, or the stride is below the width.</exception>
    /// <exception cref="ArgumentException"><paramref name="pixels"/> is shorter than the rows, or the rows exceed 2 GiB.</exception>
    [return: OwnedBuffer]
    public PixelBuffer<TPixel> WrapPixels<TPixel>(Memory<TPixel> pixels, int width, int height, int rowStride, Action? release = null)
        where TPixel : unmanaged
    {
        long length = LengthOfRows(width, height, rowStride, nameof(rowStride));
        Throw.IfTooShort(nameof(pixels), pixels.Length, length);
        Memory<byte> bytes = CastMemory<TPixel, byte>.Of(pixels.Slice(0, (int)length));
        int size = Unsafe.SizeOf<TPixel>();
        Throw.Unless(rowStride <= int.MaxValue / size, nameof(rowStride), rowStride, "must be less than 2 GiB in bytes");
        return WrapRows<TPixel>(new WrappedGuard<byte>(bytes, release), width, height, rowStride * size);
    }

    /// <summary>
    /// Makes a pixel buffer of bytes that the caller owns, whose rows may begin anywhere: rows of 24-bit pixels on 4-byte boundaries, for
    /// instance, or rows from the bottom up.
    /// </summary>
    /// <param name="pixels">The memory: at most 2 GiB. With a negative stride it begins with the last row of the image.</param>
    /// <param name="width">The width in pixels, at least 1.</param>
    /// <param name="height">The height in rows, at least 1.</param>
    /// <param name="rowStrideInBytes">
    /// The bytes from the beginning of one row to that of the next, forwards or, if negative, backwards: at least the bytes of a row. Gaps
    /// are never written to.
    /// </param>
    /// <param name="release">As of the overload for pixels.</param>
    /// <exception cref="ArgumentOutOfRangeException">
    /// The width or the height is below 1, or rows are longer than the stride.
    /// </exception>
    /// <exception cref="ArgumentException"><paramref name="pixels"/> is shorter than the rows.</exception>
    /// <inheritdoc cref="WrapPixels{TPixel}(Memory{TPixel}, int, int, int, Action?)" path="/typeparam | /returns"/>
    [return: OwnedBuffer]
    public PixelBuffer<TPixel> WrapPixels<TPixel>(
        Memory<byte> pixels, int width, int height, int rowStrideInBytes, Action? release = null)
        where TPixel : unmanaged
    {
        long length = LengthOfByteRows<TPixel>(width, height, rowStrideInBytes);
        Throw.IfTooShort(nameof(pixels), pixels.Length, length);
        return WrapRows<TPixel>(new WrappedGuard<byte>(pixels.Slice(0, (int)length), release), width, height, rowStrideInBytes);
    }

    /// <summary>Makes a pixel buffer of native memory that the caller owns, as the other overloads do.</summary>
    /// <param name="address">
    /// The first pixel of the first row; with a negative stride that row is the last in memory, as in a bottom-up bitmap. Nothing can
    /// check that the memory is there.
    /// </param>
    /// <param name="width">The width in pixels, at least 1.</param>
    /// <param name="height">The height in rows, at least 1.</param>
    /// <param name="rowStrideInBytes">
    /// The bytes from the beginning of one row to that of the next, forwards or, if negative, backwards: at least the bytes of a row.
    /// </param>
    /// <param name="release">
    /// Frees the memory, for instance; called once when the buffer has been disposed and nothing pins or uses it any more, under the
    /// conditions of the overload for pixels.
    /// </param>
    /// <exception cref="ArgumentNullException"><paramref name="address"/> is 0.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="width"/> or <paramref name="height"/> is below 1, or rows are longer than the stride.
    /// </exception>
    /// <inheritdoc cref="WrapPixels{TPixel}(Memory{TPixel}, int, int, int, Action?)" path="/typeparam | /returns"/>
    [return: OwnedBuffer]
    public PixelBuffer<TPixel> WrapPixels<TPixel>(nint address, int width, int height, int rowStrideInBytes, Action? release = null)
        where TPixel : unmanaged
    {
        if (address == 0)
        {
            throw new ArgumentNullException(nameof(address));
        }

        long length = LengthOfByteRows<TPixel>(width, height, rowStrideInBytes);
        nint lowest = address + (height - 1) * (nint)Math.Min(0, rowStrideInBytes);
        return WrapRows<TPixel>(new WrappedGuard<byte>(lowest, length, release), width, height, rowStrideInBytes);
    }

    /// <summary>Makes a group of memory that the caller owns. Nothing is copied, and neither statistics nor a budget count it.</summary>
    /// <typeparam name="T">The element type; it contains no references.</typeparam>
    /// <param name="memory">The memory: the only block.</param>
    /// <param name="release">
    /// Called once when the group has been disposed and nothing pins or uses it any more, on the thread that ends the last use. Never
    /// called for a group that is dropped without <c>Dispose</c>.
    /// </param>
    /// <returns>The group, which the caller disposes. The memory must stay valid until then.</returns>
    /// <exception cref="ArgumentException"><typeparamref name="T"/> contains references.</exception>
    [return: OwnedBuffer]
    public MemoryGroup<T> WrapGroup<T>(Memory<T> memory, Action? release = null)
        where T : struct
    {
        ThrowIfContainsReferences<T>();
        MemoryGroup<T> group = new();
        group.Begin(Allocation.OfCaller(new WrappedGuard<T>(memory, release), memory.Length, elementAlignment: 1));
        return group;
    }

    /// <summary>Rents an array of at least that many bytes.</summary>
    internal byte[] RentArray(int minimumLength)
    {
        if (minimumLength is < 0 or > CountedArrayPool.LongestArray)
        {
            Throw.OutOfRange(
                nameof(minimumLength),
                minimumLength,
                $"must be from 0 to {CountedArrayPool.LongestArray}, the longest array; AllocateGroup has no such limit");
        }

        BudgetAccount? account = Account;
        AllocationPipeline pipeline = GetPipeline();
        AllocationRequest request = new(minimumLength, 1, AllocationOptions.Contiguous)
        {
            IsArray = true,
            IsExact = CountedArrayPool.CapacityOf(minimumLength) > pipeline.Settings.AllocationLimitInBytes,
        };
        pipeline.Allocate(account, request, pipeline.Plan(request), out Allocation allocation);
        byte[] array = pipeline.Lend(allocation);
        GC.KeepAlive(this);
        return array;
    }

    /// <summary>Takes an array back, and zeroes it if asked. If the array is not rented: false, and it is left alone.</summary>
    internal abstract bool TryReturnArray(byte[] array, bool clear);

    private PixelBuffer<TPixel> WrapRows<TPixel>(WrappedGuard<byte> guard, int width, int height, int stride)
        where TPixel : unmanaged
    {
        PixelRows rows = new() { Offset = (1 - height) * (nint)Math.Min(0, stride), Stride = stride, Width = width, Height = height };
        PixelBuffer<TPixel> pixels = new(this, rows, 1);
        pixels.Begin(Allocation.OfCaller(guard, guard.UsedBytes, Math.Abs(stride)));
        return pixels;
    }

    private static long LengthOfByteRows<TPixel>(int width, int height, int rowStrideInBytes)
        where TPixel : unmanaged
    {
        ThrowIfNotSize(width, height);
        long bytes = (long)width * Unsafe.SizeOf<TPixel>();
        if (rowStrideInBytes == int.MinValue || Math.Abs(rowStrideInBytes) < bytes)
        {
            Throw.OutOfRange(
                nameof(rowStrideInBytes),
                rowStrideInBytes,
                $"must be at least {bytes}, the bytes of {width} pixels, or from {-int.MaxValue} to {-bytes}");
        }

        return PixelRows.LengthInBytes(width, height, rowStrideInBytes, Unsafe.SizeOf<TPixel>());
    }

    /// <summary>Returns the pixels from the first one to the end of the last row. There need be no gap behind that row.</summary>
    internal static long LengthOfRows(int width, int height, int rowStride, string strideName)
    {
        ThrowIfNotSize(width, height);
        if (rowStride < width)
        {
            Throw.OutOfRange(strideName, rowStride, $"must be at least {width}, the width");
        }

        return (height - 1L) * rowStride + width;
    }
}

/// <summary>Groups as streams.</summary>
public static class MemoryGroupExtensions
{
    /// <summary>
    /// Opens a stream over a group's bytes, for codecs; also an <see cref="IBufferWriter{T}"/>. It begins at position 0,
    /// with the length of the group, and never grows beyond that; <see cref="PooledMemoryStream.SetLength"/> makes it shorter, to see how
    /// much an encoder has written.
    /// </summary>
    /// <param name="group">The group. Its memory is not copied.</param>
    /// <param name="leaveOpen">
    /// False: the stream owns the group, and disposes it. True: the caller disposes the group, after the stream.
    /// </param>
    /// <returns>The stream, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="group"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    [return: OwnedBuffer]
    public static PooledMemoryStream AsStream(this MemoryGroup<byte> group, bool leaveOpen = false)
    {
        Throw.IfNull(group, nameof(group));
        group.ThrowIfDisposed();
        return new PooledMemoryStream(new GroupMemory(group, leaveOpen), group.TotalLength);
    }
}
