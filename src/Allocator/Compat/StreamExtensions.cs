using System;
using System.Buffers;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Allocator;

/// <summary>Members of newer streams under their own names, for netstandard2.0.</summary>
internal static class StreamExtensions
{
    public static Task WriteAsync(this Stream stream, ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken) =>
        MemoryMarshal.TryGetArray(buffer, out ArraySegment<byte> array)
            ? stream.WriteAsync(array.Array!, array.Offset, array.Count, cancellationToken)
            : WriteCopiesAsync(stream, buffer, cancellationToken);

    // Streams of that framework take arrays only.
    private static async Task WriteCopiesAsync(Stream stream, ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken)
    {
        const int CopyLength = 81920;
        byte[] array = ArrayPool<byte>.Shared.Rent(Math.Min(CopyLength, buffer.Length));
        try
        {
            while (!buffer.IsEmpty)
            {
                int count = Math.Min(array.Length, buffer.Length);
                buffer.Slice(0, count).CopyTo(array);
                await stream.WriteAsync(array, 0, count, cancellationToken).ConfigureAwait(false);
                buffer = buffer.Slice(count);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }
}
