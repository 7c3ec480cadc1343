using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>Tells how short memory is, from the system itself: the figures of the GC are as old as its last collection. Replaced in tests.</summary>
internal abstract class PressureSource
{
    /// <summary>The used part of the memory from which on pressure is high: what the runtime's GC calls a high memory load.</summary>
    public const double HighLoad = 0.9;

    public abstract MemoryPressure Read();

    public static PressureSource Create() =>
        RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? new WindowsPressureSource() : new UnixPressureSource(SystemFiles.TryRead);

    protected static MemoryPressure Judge(MemoryUsage usage) =>
        usage.UsedBytes >= usage.TotalBytes * HighLoad ? MemoryPressure.High : MemoryPressure.Low;
}
