using System;
using System.Buffers;

namespace Measuring.Sources;

/// <summary>
/// Memory that a source gave. Structs, also where they hold one reference: code over references is shared, and not compiled for each.
/// </summary>
public interface IHeldBytes
{
    /// <summary>Returns the first <paramref name="count"/> bytes, which is how many were asked for.</summary>
    Span<byte> GetBytes(int count);
}

/// <summary>Memory by its address.</summary>
public readonly unsafe record struct HeldAddress(nint Address) : IHeldBytes
{
    public Span<byte> GetBytes(int count) => new((void*)Address, count);
}

/// <summary>An array of a pool.</summary>
public readonly record struct HeldArray(byte[] Array) : IHeldBytes
{
    public Span<byte> GetBytes(int count) => Array.AsSpan(0, count);
}

/// <summary>A buffer of this library.</summary>
public readonly record struct HeldOwner(IMemoryOwner<byte> Owner) : IHeldBytes
{
    public Span<byte> GetBytes(int count) => Owner.Memory.Span[..count];
}

/// <summary>
/// A way to get memory. Implemented by structs, so that a loop is compiled for each of them, without calls between.
/// All of them are safe for many threads.
/// </summary>
public interface IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    THeld Allocate(int bytes);

    void Free(THeld held, int bytes);
}
