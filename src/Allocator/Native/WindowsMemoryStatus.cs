using System.Runtime.InteropServices;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>The whole machine's memory, as <c>GlobalMemoryStatusEx</c> tells it.</summary>
internal static unsafe class WindowsMemoryStatus
{
    public static MemoryLoad? TryRead()
    {
        Status status = new() { Length = (uint)sizeof(Status) };
        return GlobalMemoryStatusEx(&status) != 0 && status.TotalPhysical > 0 && status.AvailablePhysical <= status.TotalPhysical
            ? LoadThresholds.Judge(new MemoryLoad
            {
                Source = MemoryLoadSource.Machine,
                Origin = nameof(GlobalMemoryStatusEx),
                UsedBytes = (long)(status.TotalPhysical - status.AvailablePhysical),
                TotalBytes = (long)status.TotalPhysical,
            })
            : null;
    }

    [DllImport("kernel32")]
    private static extern int GlobalMemoryStatusEx(Status* status);

    // MEMORYSTATUSEX of sysinfoapi.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct Status
    {
        public uint Length;
        public uint MemoryLoadPercent;
        public ulong TotalPhysical;
        public ulong AvailablePhysical;
        public ulong TotalPageFile;
        public ulong AvailablePageFile;
        public ulong TotalVirtual;
        public ulong AvailableVirtual;
        public ulong AvailableExtendedVirtual;
    }
}
