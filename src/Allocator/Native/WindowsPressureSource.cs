namespace Allocator.Native;

/// <summary>Reads the machine's memory, and the GC's figures, which know the limit of a job object.</summary>
internal sealed class WindowsPressureSource : PressureSource
{
    public override MemoryPressure Read()
    {
        MemoryUsage? machine = WindowsMemoryStatus.TryRead();
        if (CollectorMemory.TryRead() is MemoryUsage container && (machine is null || container.TotalBytes < machine.Value.TotalBytes))
        {
            return Judge(container);
        }

        return machine is MemoryUsage usage ? Judge(usage) : MemoryPressure.Low;
    }
}
