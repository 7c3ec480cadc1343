using System;

namespace Fragmentation.Subjects;

/// <summary>An image of four bytes a pixel that is allocated and not yet released.</summary>
internal abstract class HeldImage : IDisposable
{
    /// <summary>Writes to every page.</summary>
    public abstract void Touch();

    /// <inheritdoc/>
    public abstract void Dispose();
}
