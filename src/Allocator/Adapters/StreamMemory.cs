using System;
using System.Buffers;

namespace Allocator.Adapters;

/// <summary>
/// The bytes behind a stream, in blocks: reached by position, whatever the blocks' lengths. Not thread-safe, as streams are not.
/// </summary>
internal abstract class StreamMemory : IDisposable
{
    // The block that was asked for last: most streams are read and written in order.
    private Memory<byte> _block;
    private long _blockStart;

    /// <summary>Gets how many bytes there are.</summary>
    public long Capacity { get; protected set; }

    /// <summary>
    /// Gives the bytes from a position to the end of the block that it lies in. pre: from 0 to <see cref="Capacity"/> - 1.
    /// </summary>
    public Memory<byte> From(long position)
    {
        long offset = position - _blockStart;
        if ((ulong)offset >= (ulong)_block.Length)
        {
            _block = Find(position, out _blockStart);
            offset = position - _blockStart;
        }

        return _block.Slice((int)offset);
    }

    /// <summary>Throws where there can never be room for that many bytes.</summary>
    public virtual void ThrowIfHopeless(long capacity)
    {
    }

    /// <summary>Makes room for that many bytes at least, or leaves everything as it was and throws.</summary>
    /// <param name="capacity">The bytes that there are to be.</param>
    /// <param name="clean">Whether new blocks have to be zero.</param>
    /// <param name="withReserve">Whether more is to come: blocks then grow, so that they stay few.</param>
    public abstract void Grow(long capacity, bool clean = false, bool withReserve = false);

    /// <summary>Gives back the blocks that lie wholly beyond a length.</summary>
    public virtual void Shrink(long length)
    {
    }

    /// <summary>Gives contiguous memory apart from the blocks, where none of them has as much in one piece.</summary>
    public abstract IMemoryOwner<byte> RentApart(int length);

    /// <summary>Copies out of the blocks. pre: all of it lies below <see cref="Capacity"/>.</summary>
    public void Read(long position, Span<byte> destination)
    {
        while (!destination.IsEmpty)
        {
            Span<byte> part = Part(position, destination.Length);
            part.CopyTo(destination);
            destination = destination.Slice(part.Length);
            position += part.Length;
        }

        GC.KeepAlive(this);
    }

    /// <summary>Copies into the blocks. pre: all of it lies below <see cref="Capacity"/>.</summary>
    public void Write(long position, ReadOnlySpan<byte> source)
    {
        while (!source.IsEmpty)
        {
            Span<byte> part = Part(position, source.Length);
            ReadOnlySpan<byte> rest = source.Slice(part.Length);
            if (rest.Overlaps(part))
            {
                WriteCopy(position, source);
                break;
            }

            source.Slice(0, part.Length).CopyTo(part);
            source = rest;
            position += part.Length;
        }

        GC.KeepAlive(this);
    }

    /// <summary>Sets bytes to zero. pre: all of them lie below <see cref="Capacity"/>.</summary>
    public void Clear(long position, long end)
    {
        while (position < end)
        {
            Span<byte> part = Part(position, end - position);
            part.Clear();
            position += part.Length;
        }

        GC.KeepAlive(this);
    }

    public abstract void Dispose();

    /// <summary>Gives the block that a position lies in, and where that begins.</summary>
    protected abstract Memory<byte> Find(long position, out long start);

    /// <summary>Called when blocks go: the one that was asked for last may be among them.</summary>
    protected void ForgetBlock()
    {
        _block = default;
        _blockStart = 0;
    }

    // What is written is the stream's own, and lies where it would be overwritten before it is read.
    private void WriteCopy(long position, ReadOnlySpan<byte> source)
    {
        byte[] copy = ArrayPool<byte>.Shared.Rent(source.Length);
        source.CopyTo(copy);
        Write(position, copy.AsSpan(0, source.Length));
        ArrayPool<byte>.Shared.Return(copy);
    }

    private Span<byte> Part(long position, long length)
    {
        Span<byte> rest = From(position).Span;
        return rest.Length <= length ? rest : rest.Slice(0, (int)length);
    }
}
