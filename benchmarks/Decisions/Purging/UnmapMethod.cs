using System.Threading;
using Decisions.Machines;

namespace Decisions.Purging;

/// <summary>The mapping goes, and with it the address, until it is wanted again. Anybody may map something there meanwhile.</summary>
internal sealed class UnmapMethod : PurgeMethod
{
    private static int s_lost;

    /// <summary>Gets how many addresses were lost to others.</summary>
    public static int Lost => s_lost;

    /// <inheritdoc/>
    public override string Name => "munmap + mmap";

    /// <inheritdoc/>
    public override void Purge(nint address, long lengthInBytes, bool hugePages) => LinuxMemory.Unmap(address, lengthInBytes);

    /// <inheritdoc/>
    public override nint Ready(nint address, long lengthInBytes, bool hugePages)
    {
        if (LinuxMemory.TryMapAt(address, lengthInBytes, hugePages))
        {
            return address;
        }

        _ = Interlocked.Increment(ref s_lost);
        return LinuxMemory.Map(lengthInBytes, hugePages);
    }
}
