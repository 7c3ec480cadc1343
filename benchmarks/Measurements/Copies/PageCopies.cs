using System.Runtime.InteropServices;

namespace Measurements.Copies;

/// <summary>The copies. Those by an array allocate it, as code does that has no other way.</summary>
internal static unsafe class PageCopies
{
    /// <summary>Copies <paramref name="length"/> bytes.</summary>
    public delegate void Copy(byte* source, byte* destination, int length);

    /// <summary>Gets all of them, in the order of the tables.</summary>
    public static IReadOnlyList<(string Name, Copy Copy)> All { get; } =
    [
        ("byte loop", ByteLoop),
        ("Marshal.Copy by array", MarshalCopy),
        ("stream by array", StreamByArray),
        ("stream CopyTo", StreamCopyTo),
        ("Buffer.MemoryCopy", MemoryCopy),
        ("span CopyTo", SpanCopy),
    ];

    private static void ByteLoop(byte* source, byte* destination, int length)
    {
        for (int i = 0; i < length; i++)
        {
            destination[i] = source[i];
        }
    }

    private static void MarshalCopy(byte* source, byte* destination, int length)
    {
        byte[] array = new byte[length];
        Marshal.Copy((nint)source, array, 0, length);
        Marshal.Copy(array, 0, (nint)destination, length);
    }

    private static void StreamByArray(byte* source, byte* destination, int length)
    {
        using UnmanagedMemoryStream input = new(source, length);
        using UnmanagedMemoryStream output = new(destination, length, length, FileAccess.Write);
        byte[] array = new byte[length];
        input.ReadExactly(array, 0, length);
        output.Write(array, 0, length);
    }

    private static void StreamCopyTo(byte* source, byte* destination, int length)
    {
        using UnmanagedMemoryStream input = new(source, length);
        using UnmanagedMemoryStream output = new(destination, length, length, FileAccess.Write);
        input.CopyTo(output);
    }

    private static void MemoryCopy(byte* source, byte* destination, int length) => Buffer.MemoryCopy(source, destination, length, length);

    private static void SpanCopy(byte* source, byte* destination, int length)
        => new ReadOnlySpan<byte>(source, length).CopyTo(new Span<byte>(destination, length));
}
