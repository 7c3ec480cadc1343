using System;
using System.Linq;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Reads the container's limit; without one the machine's memory; without that the GC's own figures.</summary>
internal sealed class UnixPressureSource : PressureSource
{
    private readonly Func<string, string?> _readFile;

    public UnixPressureSource(Func<string, string?> readFile) => _readFile = readFile;

    protected override MemoryLoad ReadSystem()
    {
        MemoryLoad? machine = MemoryInfo.TryRead(_readFile);

        // A limit below the machine's size is a container. What its neighbours use is then not our concern while it has room itself.
        if (CgroupMemory.TryRead(_readFile) is MemoryLoad container && (machine is null || container.TotalBytes < machine.Value.TotalBytes))
        {
            return container;
        }

        return machine is MemoryLoad load ? LoadThresholds.Judge(load with { StalledPercent = ReadStalls() }) : CollectorMemory.TryRead() ?? default;
    }

    // Of our own group, which has one without a limit too: the machine's figure rises also when a neighbour is stalled by a limit of its own.
    private double? ReadStalls() =>
        ControlGroups.Version2Folders(_readFile).Take(1).Select(folder => PressureStall.TryRead(_readFile, folder + "/memory.pressure")).FirstOrDefault()
        ?? PressureStall.TryRead(_readFile, PressureStall.Machine);
}
