using System;
using System.Runtime.InteropServices;
using System.Threading;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Reads how short memory is, from the system itself: the figures of the GC are as old as its last collection. Replaced in tests.</summary>
internal abstract class PressureSource
{
    private const long Unknown = long.MaxValue;

    // 0 before the first read.
    private long _availableBytes;

    /// <summary>Gets the one of the system at hand.</summary>
    public static PressureSource Shared { get; } =
        RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? new WindowsPressureSource() : new UnixPressureSource(SystemFiles.TryRead);

    /// <summary>Gets how much memory the process may use at most, as of the last <see cref="Read"/>: the lowest of what the machine has, the container allows and the GC may use; null where that is unknown.</summary>
    public long? AvailableBytes
    {
        get
        {
            if (Volatile.Read(ref _availableBytes) == 0)
            {
                Read();
            }

            long bytes = Volatile.Read(ref _availableBytes);
            return bytes == Unknown ? null : bytes;
        }
    }

    /// <summary>Reads everything anew: limits change while a process runs. Files and system calls: at ticks, and for diagnostics.</summary>
    public MemoryLoad Read()
    {
        MemoryLoad load = ReadSystem();
        Volatile.Write(ref _availableBytes, Math.Min(load.TotalBytes > 0 ? load.TotalBytes : Unknown, CollectorMemory.TryReadAvailable() ?? Unknown));
        return load;
    }

    protected abstract MemoryLoad ReadSystem();
}
