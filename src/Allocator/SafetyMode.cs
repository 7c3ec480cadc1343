namespace Allocator;

/// <summary>How closely the use of rented memory is watched.</summary>
public enum SafetyMode
{
    /// <summary>Finds uses of an owner after <c>Dispose</c>, but neither those of older spans nor writes past an end.</summary>
    Standard,

    /// <summary>
    /// As <see cref="Guarded"/> for one in <see cref="MemoryAllocatorOptions.SafetySampleInterval"/> allocations, chosen at random, and as
    /// <see cref="Standard"/> for the others: cheap enough for production. 64 bytes behind a buffer stay readable
    /// (<see cref="MemoryAllocatorOptions.OverreadToleranceInBytes"/>). Memory goes back to the system on return, and the addresses of the
    /// last 16 stay inaccessible. Nothing is thrown: what is found is raised as
    /// <see cref="Diagnostics.MemoryDiagnostics.CorruptionFound"/>.
    /// </summary>
    Sampled,

    /// <summary>
    /// For tests: slow, and takes much memory. Every allocation lies between inaccessible pages, as near to the one behind it as its
    /// alignment allows (64 bytes, or what was asked for), filled with 0xCD unless clean. After its return it is filled with 0xDD and
    /// inaccessible for up to 256 further returns, as far as the size of the pool allows. An access to the pages around it, or after its
    /// return, ends the process at that instruction; <see cref="Diagnostics.AllocationRecords"/> then says which buffer it was. Writes
    /// that no page prevents, into the few bytes up to the page or by devices, are found at the return or when the memory is released,
    /// and throw <see cref="MemoryCorruptedException"/>. No buffer is a managed array, and none is better aligned than it has to be.
    /// </summary>
    Guarded,
}
