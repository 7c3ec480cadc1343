using Decisions.Machines;

namespace Decisions.Purging;

/// <summary>The pages go at once, the mapping stays. As in the library, the block is made accessible before its next use, which changes nothing and is one call.</summary>
internal sealed class DontNeedMethod : PurgeMethod
{
    /// <inheritdoc/>
    public override string Name => "MADV_DONTNEED";

    /// <inheritdoc/>
    public override void Purge(nint address, long lengthInBytes, bool hugePages)
        => LinuxMemory.Advise(address, lengthInBytes, LinuxMemory.AdviseDontNeed);

    /// <inheritdoc/>
    public override nint Ready(nint address, long lengthInBytes, bool hugePages)
    {
        LinuxMemory.Protect(address, lengthInBytes, accessible: true);
        return address;
    }
}
