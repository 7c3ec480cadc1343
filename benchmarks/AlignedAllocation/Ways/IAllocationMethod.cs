using System;

namespace AlignedAllocation.Ways;

/// <summary>One way to allocate and release. Implemented by structs, so that a sweep is compiled for each without calls between.</summary>
/// <typeparam name="THeld">What is held between the two: an address or an owner.</typeparam>
internal interface IAllocationMethod<THeld>
{
    /// <summary>Allocates <paramref name="bytes"/> bytes.</summary>
    THeld Allocate(int bytes);

    /// <summary>Returns the bytes of <paramref name="held"/>.</summary>
    Span<byte> GetBytes(THeld held, int bytes);

    /// <summary>Releases what <see cref="Allocate"/> returned.</summary>
    void Release(THeld held, int bytes);
}
