namespace Decisions.Machines;

/// <summary>Where resident memory stands, by walking the page tables.</summary>
/// <param name="Resident">All that is resident, in bytes.</param>
/// <param name="LazilyFreed">What of it the system may take when it is short, in bytes.</param>
/// <param name="InHugePages">What of it lies in huge pages, in bytes.</param>
internal readonly record struct ResidentDetails(long Resident, long LazilyFreed, long InHugePages);
