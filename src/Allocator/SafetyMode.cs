namespace Allocator;

/// <summary>How closely the use of rented memory is watched.</summary>
public enum SafetyMode
{
    /// <summary>Finds a second return and use of an owner after it; no span, pointer or write past an end. No measurable cost.</summary>
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
    /// For tests: slow, and hungry for memory. Every allocation lies between inaccessible pages, as near to the one behind it as its
    /// alignment allows (64 bytes, or what was asked for), filled with 0xCD unless clean. After its return it is filled with 0xDD and
    /// inaccessible for as long as 256 returns and the size of the pool allow. An access outside it or after its return ends the process
    /// at that very instruction, and the file that <see cref="Diagnostics.AllocationRecords"/> reads says whose memory it was. What no
    /// page protects, the few bytes up to the page and writes by devices, is verified on return and when the memory leaves that state, and
    /// thrown as <see cref="MemoryCorruptedException"/>. No buffer is a managed array, and none is better aligned than it has to be.
    /// </summary>
    Guarded,
}
