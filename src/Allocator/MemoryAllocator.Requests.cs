using Allocator.Allocators;
using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator;

/// <content>The checks of a request before anything is taken, and the most that it takes.</content>
public abstract partial class MemoryAllocator
{
    /// <summary>Computes what pixel buffers need at most, for <see cref="ReserveAsync(long, CancellationToken)"/>.</summary>
    /// <param name="width">The width in pixels, at least 1.</param>
    /// <param name="height">The height in rows, at least 1.</param>
    /// <param name="pixelSizeInBytes">The size of a pixel in bytes, at least 1.</param>
    /// <param name="liveCopies">How many such buffers the job has at once, at least 1.</param>
    /// <param name="rowAlignmentInBytes">The boundary in bytes that each row starts on: a power of two, from 1 to 2 MiB.</param>
    /// <returns>
    /// The bytes, at most <see cref="long.MaxValue"/> / 16: up to sixteen estimates can be added without wrapping, and an estimate that is
    /// too large for any machine is never granted.
    /// </returns>
    /// <remarks>
    /// For buffers without <see cref="AllocationOptions.Contiguous"/>, unless this allocator prefers that. Add everything else that the
    /// job has at the same time, such as the thumbnail and the decoder's memory.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">A value is below 1, or the row alignment is no such boundary.</exception>
    /// <exception cref="ObjectDisposedException">The allocator has been disposed.</exception>
    public long EstimatePixelBytes(int width, int height, int pixelSizeInBytes, int liveCopies = 1, int rowAlignmentInBytes = 1)
    {
        Throw.IfBelowOne(pixelSizeInBytes, nameof(pixelSizeInBytes));
        ThrowIfNotAlignment(rowAlignmentInBytes, nameof(rowAlignmentInBytes));
        return Estimate(DescribePixels(width, height, pixelSizeInBytes, rowAlignmentInBytes, AllocationOptions.None), liveCopies);
    }

    /// <summary>As <see cref="EstimatePixelBytes"/>, for planes in one allocation.</summary>
    /// <param name="format">The format.</param>
    /// <param name="width">The width of the image in pixels, at least 1.</param>
    /// <param name="height">The height of the image in rows, at least 1.</param>
    /// <param name="liveCopies">How many such buffers the job has at once, at least 1.</param>
    /// <param name="rowAlignmentInBytes">The boundary in bytes that each row starts on: a power of two, from 1 to 2 MiB.</param>
    /// <exception cref="ArgumentNullException"><paramref name="format"/> is null.</exception>
    /// <inheritdoc cref="EstimatePixelBytes" path="/returns | /remarks | /exception"/>
    public long EstimatePlanarBytes(PlanarFormat format, int width, int height, int liveCopies = 1, int rowAlignmentInBytes = 1) =>
        Estimate(DescribePlanes(format, width, height, rowAlignmentInBytes, AllocationOptions.None), liveCopies);

    /// <summary>As <see cref="EstimatePixelBytes"/>, for plain buffers.</summary>
    /// <param name="lengthInBytes">The length of one buffer in bytes.</param>
    /// <param name="liveCopies">How many such buffers the job has at once, at least 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or the copies are below 1.</exception>
    /// <inheritdoc cref="EstimatePixelBytes" path="/returns | /exception[contains(@cref, 'Disposed')]"/>
    public long EstimateBytes(long lengthInBytes, int liveCopies = 1)
    {
        Throw.IfNegative(lengthInBytes, nameof(lengthInBytes));
        return Estimate(AllocationRequest.ForBytes(lengthInBytes, 1, AllocationOptions.None), liveCopies);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void ThrowIfNotElements<T>(int length, AllocationOptions options)
        where T : struct
    {
        ThrowIfContainsReferences<T>();
        ThrowIfUndefined(options);
        if (length < 0)
        {
            Throw.OutOfRange(nameof(length), length, "must not be negative");
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private AllocationRequest DescribePixels<TPixel>(int width, int height, int rowAlignmentInBytes, AllocationOptions options)
        where TPixel : unmanaged
    {
        ThrowIfUndefined(options);
        ThrowIfNotAlignment(rowAlignmentInBytes, nameof(rowAlignmentInBytes));
        AllocationRequest request = DescribePixels(width, height, Unsafe.SizeOf<TPixel>(), rowAlignmentInBytes, options);
        if ((long)request.ElementAlignment * height != request.TotalLength)
        {
            ThrowRowTooLong(width, request.TotalLength, request.TotalLength / height);
        }

        return request;
    }

    private static AllocationRequest DescribePlanes(
        PlanarFormat format, int width, int height, int rowAlignmentInBytes, AllocationOptions options)
    {
        Throw.IfNull(format, nameof(format));
        ThrowIfNotAlignment(rowAlignmentInBytes, nameof(rowAlignmentInBytes));
        ThrowIfNotSize(width, height);
        long line = format.LineBytes(width, rowAlignmentInBytes);
        return DescribeRows(format.OffsetOf(format.PlaneCount, height, line), line, rowAlignmentInBytes, options);
    }

    private void ThrowRowTooLong(int width, long bytes, long rowBytes)
    {
        ThrowIfAboveLimit(bytes);
        Throw.OutOfRange(
            nameof(width), width, Invariant($"makes rows of {rowBytes:N0} bytes; the limit is {int.MaxValue:N0}, as strides are ints"));
    }

    private void ThrowIfAboveLimit(long bytes)
    {
        long limit = GetPipeline().Settings.AllocationLimitInBytes;
        if (bytes > limit)
        {
            Throw.LimitExceeded(bytes, limit);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static AllocationRequest DescribePixels(
        int width, int height, int pixelSizeInBytes, int rowAlignmentInBytes, AllocationOptions options)
    {
        ThrowIfNotSize(width, height);
        long rowStride = ByteCount.RoundUp((long)width * pixelSizeInBytes, rowAlignmentInBytes);
        return DescribeRows(ByteCount.Multiply(rowStride, height), rowStride, rowAlignmentInBytes, options);
    }

    // A row that is too long to be allocated can be estimated all the same.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static AllocationRequest DescribeRows(long bytes, long rowStride, int rowAlignmentInBytes, AllocationOptions options) =>
        new(bytes, 1, options)
        {
            ElementAlignment = (int)Math.Min(int.MaxValue, rowStride),
            AlignmentInBytes = rowAlignmentInBytes,
            MakeContiguousWhereNeeded = true,
        };

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void ThrowIfNotSize(int width, int height)
    {
        if (width < 1)
        {
            Throw.OutOfRange(nameof(width), width, "must be at least 1");
        }

        if (height < 1)
        {
            Throw.OutOfRange(nameof(height), height, "must be at least 1");
        }
    }

    internal static void ThrowIfContainsReferences<T>()
        where T : struct
    {
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            Throw.ContainsReferences(typeof(T));
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void ThrowIfUndefined(AllocationOptions options)
    {
        if ((options & ~(AllocationOptions.Clean | AllocationOptions.Contiguous)) != 0)
        {
            Throw.OutOfRange(nameof(options), options, "must be a combination of defined flags");
        }
    }

    private static void ThrowIfNotAlignment(int alignmentInBytes, string name)
    {
        if (alignmentInBytes is < 1 or > NativeMemorySource.MaximumAlignment || (alignmentInBytes & (alignmentInBytes - 1)) != 0)
        {
            Throw.OutOfRange(name, alignmentInBytes, $"must be a power of two from 1 to {NativeMemorySource.MaximumAlignment}");
        }
    }

    /// <summary>Allocates for an adapter: what an array serves is never sampled. No more than whole pages, if that is asked for.</summary>
    [return: OwnedBuffer]
    internal IMemoryOwner<T> AllocateForAdapter<T>(int length, AllocationOptions options = AllocationOptions.None, bool isExact = false)
        where T : struct
    {
        ThrowIfNotElements<T>(length, options);
        PooledMemoryOwner<T> owner = new();
        long bytes = (long)length * Unsafe.SizeOf<T>();
        LifetimeGuard guard = TryRentFast(null, bytes, 1, options, ofGroup: false, out long generation)
            ?? RentPlanned(RequestOfAdapter(bytes, options, isExact), out generation);
        owner.Begin(guard, generation);
        return owner;
    }

    /// <summary>Returns the most that <see cref="AllocateForAdapter"/> takes for this many bytes.</summary>
    internal long ChargeFor(int lengthInBytes, bool isExact) =>
        GetPipeline().UpperBoundOf(RequestOfAdapter(lengthInBytes, AllocationOptions.None, isExact));

    private static AllocationRequest RequestOfAdapter(long lengthInBytes, AllocationOptions options, bool isExact) =>
        AllocationRequest.ForBytes(lengthInBytes, 1, options) with { PromisesArray = true, IsExact = isExact };

    private LifetimeGuard RentElements<T>(int length, int alignmentInBytes, AllocationOptions options, out long generation)
        where T : struct
    {
        ThrowIfNotElements<T>(length, options);
        long bytes = (long)length * Unsafe.SizeOf<T>();
        return TryRentFast(null, bytes, alignmentInBytes, options, ofGroup: false, out generation)
            ?? RentPlanned(AllocationRequest.ForBytes(bytes, alignmentInBytes, options), out generation);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private LifetimeGuard RentPlanned(in AllocationRequest request, out long generation)
    {
        BudgetAccount? account = Account;
        AllocationPipeline pipeline = GetPipeline();
        pipeline.Allocate(account, request, pipeline.Plan(request), out Allocation allocation);
        generation = allocation.Generation;

        // Up to here: a reservation that is collected while its request waits would close its account.
        GC.KeepAlive(this);
        return allocation.Guard!;
    }

    private Allocation AllocateMembers(in AllocationRequest request)
    {
        AllocationPipeline pipeline = GetPipeline();
        AllocationPlan plan = pipeline.Plan(request);
        if (TryRentFast(request, plan, out long generation) is LifetimeGuard guard)
        {
            return new Allocation(guard, generation, plan.LayoutAt(guard.Address));
        }

        BudgetAccount? account = Account;
        pipeline.Allocate(account, request, plan, out Allocation allocation);
        GC.KeepAlive(this);
        return allocation;
    }

    private LifetimeGuard? TryRentFast(in AllocationRequest request, in AllocationPlan plan, out long generation)
    {
        generation = 0;
        return plan.IsContiguous || plan.UsesPool
            ? TryRentFast(null, plan.ReadyBytes, request.AlignmentInBytes, request.Options, !plan.IsContiguous, out generation)
            : null;
    }

    private long Estimate(in AllocationRequest request, int liveCopies)
    {
        Throw.IfBelowOne(liveCopies, nameof(liveCopies));
        return Math.Min(ByteCount.Multiply(GetPipeline().UpperBoundOf(request), liveCopies), ByteCount.LargestEstimate);
    }
}

/// <summary>Describes an allocation beyond its length.</summary>
[Flags]
public enum AllocationOptions
{
    /// <summary>Contents are unspecified, and memory above one block of the pool may come in several blocks.</summary>
    None = 0,

    /// <summary>The memory is zero. It is cleared at most once, and not at all if the operating system supplied it zeroed.</summary>
    Clean = 1,

    /// <summary>A group or pixel buffer is one run of memory: adjacent blocks of the pool if they are free, else a mapping.</summary>
    Contiguous = 2,
}
