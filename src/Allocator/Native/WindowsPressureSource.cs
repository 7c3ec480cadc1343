using System;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Reads the limits of the job object; without any the machine's memory and Windows' own word that it runs low; without that the GC's figures.</summary>
internal sealed class WindowsPressureSource : PressureSource
{
    private readonly Func<MemoryLoad?> _readJob;
    private readonly Func<MemoryLoad?> _readMachine;
    private readonly Func<bool?> _readLowMemory;

    public WindowsPressureSource()
        : this(WindowsJobMemory.TryRead, WindowsMemoryStatus.TryRead, new LowMemoryNotification().TryRead)
    {
    }

    /// <summary>Makes a source of what others read.</summary>
    public WindowsPressureSource(Func<MemoryLoad?> readJob, Func<MemoryLoad?> readMachine, Func<bool?> readLowMemory)
    {
        _readJob = readJob;
        _readMachine = readMachine;
        _readLowMemory = readLowMemory;
    }

    protected override MemoryLoad ReadSystem()
    {
        MemoryLoad? machine = _readMachine();

        // The notification is the machine's too: a busy neighbour is not the concern of a job that has room.
        if (_readJob() is MemoryLoad job && (machine is null || job.TotalBytes < machine.Value.TotalBytes))
        {
            return job;
        }

        return machine is MemoryLoad load ? load with { IsHigh = load.IsHigh || _readLowMemory() == true } : CollectorMemory.TryRead() ?? default;
    }
}
