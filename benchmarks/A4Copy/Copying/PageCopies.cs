using System;
using System.IO;
using System.Runtime.InteropServices;

namespace A4Copy.Copying;

/// <summary>The copies. Those by an array allocate it, as code does that has no other way.</summary>
internal static unsafe class PageCopies
{
    /// <summary>One byte at a time.</summary>
    public static void ByteLoop(byte* source, byte* destination, int length)
    {
        for (int i = 0; i < length; i++)
        {
            destination[i] = source[i];
        }
    }

    /// <summary>By <see cref="Marshal.Copy(nint, byte[], int, int)"/>, to an array and from it.</summary>
    public static void MarshalCopy(byte* source, byte* destination, int length)
    {
        byte[] array = new byte[length];
        Marshal.Copy((nint)source, array, 0, length);
        Marshal.Copy(array, 0, (nint)destination, length);
    }

    /// <summary>By two streams, to an array and from it.</summary>
    public static void StreamByArray(byte* source, byte* destination, int length)
    {
        using UnmanagedMemoryStream input = new(source, length);
        using UnmanagedMemoryStream output = new(destination, length, length, FileAccess.Write);
        byte[] array = new byte[length];
        input.ReadExactly(array, 0, length);
        output.Write(array, 0, length);
    }

    /// <summary>By two streams, from one to the other.</summary>
    public static void StreamCopyTo(byte* source, byte* destination, int length)
    {
        using UnmanagedMemoryStream input = new(source, length);
        using UnmanagedMemoryStream output = new(destination, length, length, FileAccess.Write);
        input.CopyTo(output);
    }

    /// <summary>By <see cref="Buffer.MemoryCopy(void*, void*, long, long)"/>.</summary>
    public static void MemoryCopy(byte* source, byte* destination, int length) => Buffer.MemoryCopy(source, destination, length, length);

    /// <summary>By <see cref="ReadOnlySpan{T}.CopyTo"/>.</summary>
    public static void SpanCopy(byte* source, byte* destination, int length)
        => new ReadOnlySpan<byte>(source, length).CopyTo(new Span<byte>(destination, length));
}
