namespace Allocator;

/// <summary>Says whether the operating system is asked for huge pages.</summary>
public enum HugePages
{
    /// <summary>
    /// Blocks are advised for huge pages before their first touch, where the system has them. Needs
    /// <see cref="NativeMemoryKind.Virtual"/>.
    /// </summary>
    Auto,

    /// <summary>No advice is given: pages are what the system makes of them.</summary>
    Off,
}
