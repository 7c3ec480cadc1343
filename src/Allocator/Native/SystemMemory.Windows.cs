using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Reads the job's limits. If there are none: the machine's memory and whether it runs low, or else the GC's figures.</summary>
internal sealed unsafe class WindowsSystemMemory(
    Func<MemoryLoad?> readJob, Func<MemoryLoad?> readMachine, Func<bool?> readLowMemory) : SystemMemory
{
    public WindowsSystemMemory()
        : this(WindowsJob.TryRead, TryReadMachine, TryReadLowMemory)
    {
    }

    /// <summary>Reads the memory of the whole machine. Null if Windows does not report it.</summary>
    public static MemoryLoad? TryReadMachine()
    {
        MemoryStatus status = new() { Length = (uint)sizeof(MemoryStatus) };
        return GlobalMemoryStatusEx(&status) != 0 && status.TotalPhysical > 0 && status.AvailablePhysical <= status.TotalPhysical
            ? Judge(new MemoryLoad
            {
                Source = MemoryLoadSource.Machine,
                Origin = nameof(GlobalMemoryStatusEx),
                UsedBytes = (long)(status.TotalPhysical - status.AvailablePhysical),
                TotalBytes = (long)status.TotalPhysical,
            })
            : null;
    }

    /// <summary>Reads whether the machine's physical memory runs low. Null if Windows does not report it.</summary>
    public static bool? TryReadLowMemory()
    {
        int isLow;
        nint handle = LowMemoryNotification.Handle;
        return handle != 0 && QueryMemoryResourceNotification(handle, &isLow) != 0 ? isLow != 0 : null;
    }

    protected override SystemReading ReadSystem(bool looksForLimits) => SystemReading.Of(JudgeSystem());

    private MemoryLoad JudgeSystem()
    {
        MemoryLoad? machine = readMachine();

        // The notification is for the whole machine: a busy neighbour does not concern a job that has room.
        if (readJob() is MemoryLoad job && (machine is null || job.TotalBytes < machine.Value.TotalBytes))
        {
            return job;
        }

        return machine is MemoryLoad load
            ? load with { IsHigh = load.IsHigh || readLowMemory() == true }
            : TryReadCollector() ?? default;
    }

    [DllImport("kernel32")]
    private static extern int GlobalMemoryStatusEx(MemoryStatus* status);

    [DllImport("kernel32")]
    private static extern nint CreateMemoryResourceNotification(int kind);

    [DllImport("kernel32")]
    private static extern int QueryMemoryResourceNotification(nint handle, int* state);

    // The handle stays open as long as the process runs.
    private static class LowMemoryNotification
    {
        private const int LowMemory = 0; // LowMemoryResourceNotification

        public static readonly nint Handle = CreateMemoryResourceNotification(LowMemory);
    }

    // MEMORYSTATUSEX of sysinfoapi.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct MemoryStatus
    {
        public uint Length;
        public uint MemoryLoadPercent;
        public ulong TotalPhysical;
        public ulong AvailablePhysical;
        public fixed ulong OfPageFileAndAddresses[5];
    }
}
