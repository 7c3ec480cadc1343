using System;
using System.Buffers;

namespace Allocator.Adapters;

/// <summary>One block within a sequence of them.</summary>
internal sealed class SequenceSegment : ReadOnlySequenceSegment<byte>
{
    private SequenceSegment(ReadOnlyMemory<byte> memory, long runningIndex)
    {
        Memory = memory;
        RunningIndex = runningIndex;
    }

    /// <summary>Makes a sequence of the first bytes of a stream's memory. pre: there are as many.</summary>
    public static ReadOnlySequence<byte> Over(StreamMemory memory, long length)
    {
        if (length == 0)
        {
            return ReadOnlySequence<byte>.Empty;
        }

        SequenceSegment first = new(memory.From(0), 0);
        SequenceSegment last = first;
        for (long position = first.Memory.Length; position < length; position += last.Memory.Length)
        {
            SequenceSegment next = new(memory.From(position), position);
            last.Next = next;
            last = next;
        }

        return new ReadOnlySequence<byte>(first, 0, last, (int)(length - last.RunningIndex));
    }
}
