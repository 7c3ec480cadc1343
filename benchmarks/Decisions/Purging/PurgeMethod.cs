namespace Decisions.Purging;

/// <summary>A way to give a block's memory back to the system, and to have it again.</summary>
internal abstract class PurgeMethod
{
    /// <summary>Gets the system calls that it makes.</summary>
    public abstract string Name { get; }

    /// <summary>Gives the memory back.</summary>
    public abstract void Purge(nint address, long lengthInBytes, bool hugePages);

    /// <summary>Does what must be done before the block may be touched again, and returns its address: another one where the old was lost.</summary>
    public virtual nint Ready(nint address, long lengthInBytes, bool hugePages) => address;

    /// <summary>Returns the methods to compare; the first is the one that the library uses.</summary>
    public static PurgeMethod[] CreateAll() => [new DontNeedMethod(), new FreeMethod(), new MapOverMethod(), new UnmapMethod(), new DecommitMethod()];
}
