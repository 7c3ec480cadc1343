using Decisions.Machines;

namespace Decisions.Purging;

/// <summary>The pages go at once, and the addresses are inaccessible until they are wanted again: a stray access is a fault.</summary>
internal sealed class DecommitMethod : PurgeMethod
{
    /// <inheritdoc/>
    public override string Name => "MADV_DONTNEED + PROT_NONE";

    /// <inheritdoc/>
    public override void Purge(nint address, long lengthInBytes, bool hugePages)
    {
        LinuxMemory.Advise(address, lengthInBytes, LinuxMemory.AdviseDontNeed);
        LinuxMemory.Protect(address, lengthInBytes, accessible: false);
    }

    /// <inheritdoc/>
    public override nint Ready(nint address, long lengthInBytes, bool hugePages)
    {
        LinuxMemory.Protect(address, lengthInBytes, accessible: true);
        return address;
    }
}
