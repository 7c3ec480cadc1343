using Allocator.Adapters;

namespace Allocator;

/// <summary>Groups in the shapes that other code takes.</summary>
public static class MemoryGroupExtensions
{
    /// <summary>
    /// Opens a stream over a group's bytes, for codecs; also an <see cref="System.Buffers.IBufferWriter{T}"/>. It begins at position 0,
    /// with the length of the group, and never grows beyond that; <see cref="PooledMemoryStream.SetLength"/> makes it shorter, to see how
    /// much an encoder has written.
    /// </summary>
    /// <param name="group">The group. Its memory is not copied.</param>
    /// <param name="leaveOpen">
    /// False: the stream owns the group, and disposes it. True: the caller disposes the group, after the stream.
    /// </param>
    /// <returns>The stream, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="group"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    [return: OwnedBuffer]
    public static PooledMemoryStream AsStream(this MemoryGroup<byte> group, bool leaveOpen = false)
    {
        Throw.IfNull(group, nameof(group));
        group.ThrowIfDisposed();
        return new PooledMemoryStream(new GroupMemory(group, leaveOpen), group.TotalLength);
    }
}
