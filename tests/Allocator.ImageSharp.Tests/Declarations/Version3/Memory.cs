// Written by hand from https://docs.sixlabors.com/api/ImageSharp: the members that the guide uses, as documented for versions 2 and 3.
// Not the library.
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
    // Its setter is internal. The limit of a buffer is a matter of the allocators that the library has itself.
    private const long MemoryGroupAllocationLimitBytes = 4L << 30;

    protected abstract int GetBufferCapacityInBytes();

    public abstract IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None)
        where T : struct;

    public virtual void ReleaseRetainedResources()
    {
    }

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

    public override IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None) =>
        throw new NotSupportedException();
}
