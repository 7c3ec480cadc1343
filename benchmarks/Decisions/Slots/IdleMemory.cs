namespace Decisions.Slots;

/// <summary>What a pool has while all its users are idle, in bytes.</summary>
/// <param name="Committed">The blocks that have memory.</param>
/// <param name="Resident">By how much the process's resident memory grew.</param>
/// <param name="OutOfReach">The blocks that a further thread does not get, although they are idle.</param>
internal sealed record IdleMemory(long Committed, long Resident, long OutOfReach);
