using System;
using System.Buffers;

namespace A4Copy.Buffers;

/// <summary>Memory for one page.</summary>
/// <param name="Address">Where it begins.</param>
/// <param name="Owner">Who gives it back; null where the address is enough.</param>
/// <param name="Pin">What keeps the address valid, if there is an owner.</param>
internal readonly unsafe record struct PageBuffer(nint Address, IMemoryOwner<byte>? Owner = null, MemoryHandle Pin = default)
{
    /// <summary>Gets the bytes.</summary>
    public Span<byte> Span => new((void*)Address, A4Page.SizeInBytes);
}
