// Written by hand from https://docs.sixlabors.com/api/ImageSharp: the members that the guide uses, as documented for version 4. Not the
// library.
#pragma warning disable CS1591
using System;
using System.Buffers;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace SixLabors.ImageSharp.Memory;

[Flags]
public enum AllocationOptions
{
    None = 0,
    Clean = 1,
}

public abstract class MemoryAllocator
{
    private const int OneGigabyte = 1 << 30;

    protected int SingleBufferAllocationLimitBytes { get; set; } = OneGigabyte;

    protected long MemoryGroupAllocationLimitBytes { get; set; } = 4L * OneGigabyte;

    protected long AccumulativeAllocationLimitBytes { get; set; } = long.MaxValue;

    /// <summary>Not a member of the library: what is allocated and not disposed.</summary>
    internal long TrackedBytes { get; set; }

    /// <summary>Not members of the library: the limits, for a test to read.</summary>
    internal (int Single, long Group, long Sum) Limits =>
        (SingleBufferAllocationLimitBytes, MemoryGroupAllocationLimitBytes, AccumulativeAllocationLimitBytes);

    protected abstract int GetBufferCapacityInBytes();

    public IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None)
        where T : struct
    {
        long bytes = (long)length * Unsafe.SizeOf<T>();
        if (bytes > SingleBufferAllocationLimitBytes)
        {
            throw InvalidMemoryOperationException.ForLimit(bytes, SingleBufferAllocationLimitBytes);
        }

        AllocationTrackedMemoryManager<T> owner = AllocateCore<T>(length, options);
        TrackedBytes += bytes;
        owner.AttachAllocationTracking(this, bytes);
        return owner;
    }

    public virtual void ReleaseRetainedResources()
    {
    }

    protected abstract AllocationTrackedMemoryManager<T> AllocateCore<T>(int length, AllocationOptions options = AllocationOptions.None)
        where T : struct;

    /// <summary>
    /// Not a member of the library: asks for rows as it was seen to. In one piece where the configuration prefers that; else in pieces of
    /// whole rows, up to the largest contiguous buffer, in which a row must fit. If a piece is refused, it drops those that it has.
    /// </summary>
    internal IReadOnlyList<IMemoryOwner<T>> AllocateRows<T>(int rowLength, int height, bool preferContiguous = false)
        where T : struct
    {
        long bytes = (long)rowLength * height * Unsafe.SizeOf<T>();
        if (bytes > MemoryGroupAllocationLimitBytes)
        {
            throw InvalidMemoryOperationException.ForLimit(bytes, MemoryGroupAllocationLimitBytes);
        }

        if (preferContiguous)
        {
            return [Allocate<T>(checked(rowLength * height))];
        }

        int rowsOfPiece = GetBufferCapacityInBytes() / (rowLength * Unsafe.SizeOf<T>());
        if (rowsOfPiece == 0)
        {
            throw new InvalidMemoryOperationException("A row is longer than the largest contiguous buffer.");
        }

        List<IMemoryOwner<T>> pieces = [];
        for (int y = 0; y < height; y += rowsOfPiece)
        {
            pieces.Add(Allocate<T>(Math.Min(rowsOfPiece, height - y) * rowLength));
        }

        return pieces;
    }
}

public abstract class AllocationTrackedMemoryManager<T> : MemoryManager<T>
    where T : struct
{
    private MemoryAllocator? _allocator;
    private long _bytes;

    protected internal virtual void AttachAllocationTracking(MemoryAllocator allocator, long lengthInBytes) =>
        (_allocator, _bytes) = (allocator, lengthInBytes);

    protected sealed override void Dispose(bool disposing)
    {
        DisposeCore(disposing);
        if (_allocator is not null)
        {
            _allocator.TrackedBytes -= _bytes;
            _allocator = null;
        }
    }

    protected abstract void DisposeCore(bool disposing);
}

public class InvalidMemoryOperationException : InvalidOperationException
{
    public InvalidMemoryOperationException(string message)
        : base(message)
    {
    }

    /// <summary>Not a member of the library: with the message that it was seen to have.</summary>
    internal static InvalidMemoryOperationException ForLimit(long bytes, long limit) =>
        new($"Attempted to allocate a buffer of length={bytes} that exceeded the limit {limit}.");
}

/// <summary>Takes no memory of a pool.</summary>
public sealed class SimpleGcMemoryAllocator : MemoryAllocator
{
    protected override int GetBufferCapacityInBytes() => int.MaxValue;

    protected override AllocationTrackedMemoryManager<T> AllocateCore<T>(int length, AllocationOptions options = AllocationOptions.None) =>
        throw new NotSupportedException();
}
