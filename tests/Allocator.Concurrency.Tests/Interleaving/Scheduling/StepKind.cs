namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>What a step does to its location.</summary>
internal enum StepKind
{
    /// <summary>Nothing that another thread could see: a beginning, or a choice.</summary>
    Local,
    Read,
    Write,
    Acquire,
    Release,
}
