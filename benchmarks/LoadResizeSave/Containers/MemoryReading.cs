using System.Globalization;

namespace LoadResizeSave.Containers;

/// <summary>Who holds memory at one moment. All in bytes.</summary>
/// <param name="Charged">What its cgroup is charged with and the kernel cannot drop; 0 where there is no cgroup.</param>
/// <param name="Store">What the way of having memory holds: outstanding and idle.</param>
/// <param name="Malloc">What the C library holds of the system, used or free.</param>
internal readonly record struct MemoryReading(
    double Seconds, long Charged, long Resident, long Store, long ManagedHeap, long Malloc, long MallocFree)
{
    private const double Mebibyte = 1 << 20;

    public string Describe() => string.Create(
        CultureInfo.InvariantCulture,
        $"charged {Charged / Mebibyte:0.0} MiB: store {Store / Mebibyte:0.0}, managed heap {ManagedHeap / Mebibyte:0.0}, ")
        + string.Create(CultureInfo.InvariantCulture, $"malloc {Malloc / Mebibyte:0.0} of which free {MallocFree / Mebibyte:0.0}");
}
