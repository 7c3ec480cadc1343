namespace Interleaving.Scheduling;

/// <summary>What a step does to its location.</summary>
internal enum StepKind
{
    /// <summary>Nothing that another thread could see: a beginning, or a choice.</summary>
    Local,
    Read,
    Write,
    Acquire,
    Release,

    /// <summary>A write that waits in the processor's store buffer while the thread goes on reading.</summary>
    BufferedWrite,

    /// <summary>A fence on all processors: empties the store buffers of all threads.</summary>
    Fence,
}
