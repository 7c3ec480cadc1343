using Allocator.Diagnostics;

namespace Allocator.Guarding;

/// <summary>Keeps the first thing that was found, to be thrown once everything is where it belongs.</summary>
internal sealed class CorruptionFindings
{
    /// <summary>Gets the first finding; null where there is none.</summary>
    public CorruptionEventArgs? First { get; private set; }

    public void Add(CorruptionEventArgs? finding) => First ??= finding;
}
