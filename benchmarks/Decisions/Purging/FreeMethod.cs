using Decisions.Machines;

namespace Decisions.Purging;

/// <summary>The pages stay until the system is short of memory, or they are written to.</summary>
internal sealed class FreeMethod : PurgeMethod
{
    /// <inheritdoc/>
    public override string Name => "MADV_FREE";

    /// <inheritdoc/>
    public override void Purge(nint address, long lengthInBytes, bool hugePages)
        => LinuxMemory.Advise(address, lengthInBytes, LinuxMemory.AdviseFree);
}
