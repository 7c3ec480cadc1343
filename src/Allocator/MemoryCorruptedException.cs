using Allocator.Diagnostics;

namespace Allocator;

/// <summary>
/// Thrown in <see cref="SafetyMode.Guarded"/> mode by the call that finds a write outside a buffer, or to one after its return: a
/// <c>Dispose</c>, also of a pin, or a release of memory that the allocator keeps. That call has done its work.
/// </summary>
/// <remarks>
/// If no call can throw, as in a finalizer, the finding is only raised as <see cref="MemoryDiagnostics.CorruptionFound"/>, which has all
/// others too.
/// </remarks>
public sealed class MemoryCorruptedException : InvalidOperationException
{
    internal MemoryCorruptedException(CorruptionEventArgs corruption)
        : base(corruption.ToString()) => Corruption = corruption;

    /// <summary>Gets the finding, with the buffer it concerns.</summary>
    public CorruptionEventArgs Corruption { get; }
}
