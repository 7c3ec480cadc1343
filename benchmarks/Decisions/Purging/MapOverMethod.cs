using Decisions.Machines;

namespace Decisions.Purging;

/// <summary>A fresh mapping takes the place of the old one.</summary>
internal sealed class MapOverMethod : PurgeMethod
{
    /// <inheritdoc/>
    public override string Name => "mmap in place";

    /// <inheritdoc/>
    public override void Purge(nint address, long lengthInBytes, bool hugePages) => LinuxMemory.MapOver(address, lengthInBytes, hugePages);
}
