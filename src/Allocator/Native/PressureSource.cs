using System.Runtime.InteropServices;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Tells how short memory is, from the system itself: the figures of the GC are as old as its last collection. Replaced in tests.</summary>
internal abstract class PressureSource
{
    /// <summary>Gets the one of the system at hand.</summary>
    public static PressureSource Shared { get; } =
        RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? new WindowsPressureSource() : new UnixPressureSource(SystemFiles.TryRead);

    /// <summary>Reads everything anew: limits change while a process runs.</summary>
    public abstract MemoryLoad Read();
}
