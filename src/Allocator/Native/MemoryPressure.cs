namespace Allocator.Native;

/// <summary>How short the machine, or the container, is of memory.</summary>
internal enum MemoryPressure
{
    /// <summary>There is room.</summary>
    Low,

    /// <summary>What lies idle here is needed elsewhere.</summary>
    High,
}
