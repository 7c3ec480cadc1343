using Allocator.Adapters;

namespace Allocator;

/// <content>Members that <see cref="Stream"/> has since .NET Core; before, its own versions call those of the other file.</content>
public sealed partial class PooledMemoryStream
{
    /// <inheritdoc cref="Read(byte[], int, int)"/>
    public override int Read(Span<byte> buffer) => ReadBytes(buffer);

    /// <summary>Reads as <see cref="Read(byte[], int, int)"/> does, before it returns. Exceptions are in the task.</summary>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        ReadNowAsync(buffer, cancellationToken);

    /// <inheritdoc cref="Write(byte[], int, int)"/>
    public override void Write(ReadOnlySpan<byte> buffer) => WriteBytes(buffer);

    /// <summary>Writes as <see cref="Write(byte[], int, int)"/> does, before it returns. Exceptions are in the task.</summary>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        WriteNowAsync(buffer, cancellationToken);

    /// <inheritdoc cref="CopyToAsync(Stream, int, CancellationToken)"/>
    public override void CopyTo(Stream destination, int bufferSize)
    {
        ThrowIfNotCopy(destination, bufferSize);
        StreamMemory memory = Use();
        long start = _position;
        _position = Math.Max(start, _length);
        CopyBlocks(memory, start, _position, destination);
    }
}
