using System;
using System.Runtime.InteropServices;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Reads how much memory is left. Not thread-safe: one caller at a time. Replaced in tests.</summary>
internal abstract class HeadroomSource
{
    /// <summary>Makes the one of the system at hand.</summary>
    public static HeadroomSource Create() =>
        RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? new CgroupHeadroom(SystemFile.TryOpen) : new PressureHeadroom(PressureSource.Shared);

    /// <summary>Reads it anew. Never throws.</summary>
    public abstract Headroom Read();

    /// <summary>Gives how many bytes of a range have no memory behind them yet, so that no reading contains them.</summary>
    public virtual long UntouchedBytes(nint address, long lengthInBytes) => 0;

    /// <summary>
    /// What the system's own figures say. Windows counts memory against a job's limit when it is committed, and refuses it then, and so does no harm; macOS has no limits of that kind.
    /// </summary>
    private sealed class PressureHeadroom : HeadroomSource
    {
        private readonly PressureSource _pressure;

        public PressureHeadroom(PressureSource pressure) => _pressure = pressure;

        public override Headroom Read()
        {
            try
            {
                MemoryLoad load = _pressure.Read();
                long free = load.TotalBytes - load.UsedBytes;
                return load.TotalBytes <= 0 ? Headroom.Unknown
                    : new Headroom(load.TotalBytes, free, load.Source == MemoryLoadSource.JobObject ? free : long.MaxValue);
            }
            catch (Exception)
            {
                // For want of managed memory.
                return Headroom.Unknown;
            }
        }
    }
}
