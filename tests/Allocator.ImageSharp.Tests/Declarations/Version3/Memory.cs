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
    protected abstract int GetBufferCapacityInBytes();

    public abstract IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None)
        where T : struct;

    public virtual void ReleaseRetainedResources()
    {
    }

    /// <summary>
    /// Not a member of the library: asks for rows as it was seen to. In one piece where the configuration prefers that; else in pieces of
    /// whole rows, up to the largest contiguous buffer, in which a row must fit.
    /// </summary>
    internal IReadOnlyList<IMemoryOwner<T>> AllocateRows<T>(int rowLength, int height, bool preferContiguous = false)
        where T : struct
    {
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
}

/// <summary>Takes no memory of a pool.</summary>
public sealed class SimpleGcMemoryAllocator : MemoryAllocator
{
    protected override int GetBufferCapacityInBytes() => int.MaxValue;

    public override IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None) =>
        throw new NotSupportedException();
}
