using Measuring.Machines;

namespace Fragmentation.Churn;

/// <summary>What the process occupied at one moment, in bytes.</summary>
/// <param name="Resident">The resident set.</param>
/// <param name="Committed">The commit charge; null where the system does not tell.</param>
/// <param name="PeakCommitted">The largest commit charge so far.</param>
internal sealed record MemoryReading(long Resident, long? Committed, long? PeakCommitted)
{
    /// <summary>Reads the process's memory; <paramref name="peakCommitted"/> is the caller's.</summary>
    public static MemoryReading Now(long? peakCommitted = null)
    {
        long? committed = ProcessMemory.ReadCommitted();
        return new MemoryReading(ProcessMemory.ReadResident(), committed, committed > peakCommitted || peakCommitted is null ? committed : peakCommitted);
    }
}
