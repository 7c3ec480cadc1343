using System;

namespace AlignedAllocation.Ways;

/// <summary>A buffer that is held while it is looked at.</summary>
internal abstract class HeldBuffer : IDisposable
{
    /// <summary>Gets the buffer's bytes.</summary>
    public abstract Span<byte> Bytes { get; }

    /// <inheritdoc/>
    public abstract void Dispose();
}
