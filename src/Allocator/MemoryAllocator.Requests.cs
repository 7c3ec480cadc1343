using System;
using System.Runtime.CompilerServices;
using Allocator.Allocators;
using Allocator.Lifetime;

namespace Allocator;

/// <content>What a request asks for, checked before anything is taken.</content>
public abstract partial class MemoryAllocator
{
    // A huge page: no block starts on a larger boundary.
    private const int MaximumAlignmentInBytes = 2 * 1024 * 1024;

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
    private static AllocationRequest DescribePixels<TPixel>(int width, int height, int rowAlignmentInBytes, AllocationOptions options)
        where TPixel : unmanaged
    {
        ThrowIfUndefined(options);
        ThrowIfNotAlignment(rowAlignmentInBytes, nameof(rowAlignmentInBytes));
        return DescribePixels(width, height, Unsafe.SizeOf<TPixel>(), rowAlignmentInBytes, options);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static AllocationRequest DescribePixels(
        int width, int height, int pixelSizeInBytes, int rowAlignmentInBytes, AllocationOptions options = AllocationOptions.None)
    {
        ThrowIfNotSize(width, height);
        long rowStride = AllocationRequest.RowStride(width, pixelSizeInBytes, rowAlignmentInBytes);
        if (rowStride > int.MaxValue)
        {
            Throw.OutOfRange(
                nameof(width),
                width,
                $"makes rows of {rowStride} pixels at the row alignment of {rowAlignmentInBytes} bytes; the limit is {int.MaxValue}");
        }

        return AllocationRequest.ForRows((int)rowStride, height, pixelSizeInBytes, rowAlignmentInBytes, options);
    }

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

    private static void ThrowIfContainsReferences<T>()
        where T : struct
    {
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            Throw.ContainsReferences(typeof(T));
        }
    }

    private static void ThrowIfUndefined(AllocationOptions options)
    {
        if ((options & ~(AllocationOptions.Clean | AllocationOptions.Contiguous)) != 0)
        {
            Throw.OutOfRange(nameof(options), options, "must be a combination of defined flags");
        }
    }

    private static void ThrowIfNotAlignment(int alignmentInBytes, string name)
    {
        if (alignmentInBytes < 1 || alignmentInBytes > MaximumAlignmentInBytes || (alignmentInBytes & (alignmentInBytes - 1)) != 0)
        {
            Throw.OutOfRange(name, alignmentInBytes, $"must be a power of two from 1 to {MaximumAlignmentInBytes}");
        }
    }

    private LifetimeGuard RentElements<T>(int length, int alignmentInBytes, AllocationOptions options, out long generation)
        where T : struct
    {
        ThrowIfNotElements<T>(length, options);
        long bytes = (long)length * Unsafe.SizeOf<T>();
        return TryRentFast(bytes, alignmentInBytes, options, out generation)
            ?? RentPlanned(bytes, alignmentInBytes, options, out generation);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private LifetimeGuard RentPlanned(long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        AllocationPipeline pipeline = GetPipeline();
        AllocationPlan plan = pipeline.Plan(AllocationRequest.ForBytes(lengthInBytes, alignmentInBytes, options));
        pipeline.Allocate(Account, plan, out Allocation allocation);
        generation = allocation.Generation;

        // Not before: a reservation that is collected while it waits closes its account.
        GC.KeepAlive(this);
        return allocation.Guard!;
    }

    private MemoryGroup<T> AllocateMembers<T>(in AllocationRequest request)
        where T : struct
    {
        AllocationPipeline pipeline = GetPipeline();
        AllocationPlan plan = pipeline.Plan(request);
        if (plan.IsContiguous
            && TryRentFast(plan.LengthInBytes, request.AlignmentInBytes, request.Options, out long generation) is LifetimeGuard guard)
        {
            return new MemoryGroup<T>(new Allocation(guard, generation, plan.Layout));
        }

        pipeline.Allocate(Account, plan, out Allocation allocation);
        MemoryGroup<T> group = new(allocation);
        GC.KeepAlive(this);
        return group;
    }
}
