namespace Allocator.Pooling;

/// <summary>What a pool's blocks say about themselves, read at one moment. Bytes are whole blocks.</summary>
internal readonly record struct PoolUsage(long CommittedBytes, long RentedBytes, long QuarantinedBytes, long Outstanding, long Rents)
{
    /// <summary>Gets what lies idle. Other threads may have moved on while it was added up: never below zero.</summary>
    public long RetainedBytes => CommittedBytes > RentedBytes + QuarantinedBytes ? CommittedBytes - RentedBytes - QuarantinedBytes : 0;
}
