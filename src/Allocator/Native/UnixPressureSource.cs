using System;

namespace Allocator.Native;

/// <summary>Reads the container's limit; without one the machine's memory; without that the GC's own figures.</summary>
internal sealed class UnixPressureSource : PressureSource
{
    private readonly Func<string, string?> _readFile;

    public UnixPressureSource(Func<string, string?> readFile) => _readFile = readFile;

    public override MemoryPressure Read()
    {
        MemoryUsage? machine = MemoryInfo.TryRead(_readFile);

        // A limit below the machine's size is a container. What its neighbours use is then not our concern while it has room itself.
        if (CgroupMemory.TryRead(_readFile) is MemoryUsage container && (machine is null || container.TotalBytes < machine.Value.TotalBytes))
        {
            return Judge(container);
        }

        return (machine ?? CollectorMemory.TryRead()) is MemoryUsage usage ? Judge(usage) : MemoryPressure.Low;
    }
}
