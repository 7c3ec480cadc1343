namespace Allocator;

/// <summary>Says what an allocation must be, beyond its length.</summary>
[Flags]
public enum AllocationOptions
{
    /// <summary>Contents are unspecified, and memory above one block may come in several members.</summary>
    None = 0,

    /// <summary>The memory is zero. It is cleared once at most, and not where the operating system has just given it zeroed.</summary>
    Clean = 1,

    /// <summary>A group or pixel buffer is one run of memory: adjacent blocks of the pool where these are free, else a mapping.</summary>
    Contiguous = 2,
}
