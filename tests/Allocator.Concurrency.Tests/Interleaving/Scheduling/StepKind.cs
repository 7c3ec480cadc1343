namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>What a step does to its location.</summary>
internal enum StepKind
{
    /// <summary>Nothing that another thread could see: a beginning, or a choice.</summary>
    Local,
    Read,

    /// <summary>A store, when it reaches memory.</summary>
    Write,

    /// <summary>A read and a write in one, and a full fence.</summary>
    Update,

    /// <summary>As above, and no fence: something that a scenario notes, or that was planted to order nothing.</summary>
    Observe,
    Acquire,
    Release,

    /// <summary>Nothing but a wait for all earlier stores of the thread.</summary>
    Fence,

    /// <summary>As above, for the stores of all threads: a barrier on all processors.</summary>
    ProcessFence,

    /// <summary>Nothing but a wait for the thread's stores to one address.</summary>
    Settle,
}
