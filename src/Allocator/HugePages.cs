namespace Allocator;

/// <summary>Says whether the operating system is asked for huge pages.</summary>
public enum HugePages
{
    /// <summary>
    /// Blocks are advised for huge pages before their first touch, where the system has them. Needs
    /// <see cref="NativeMemoryKind.Virtual"/>.
    /// </summary>
    Auto,

    /// <summary>Huge pages are refused, also where the system would use them without being asked.</summary>
    Off,
}
