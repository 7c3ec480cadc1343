using Allocator.Diagnostics;

namespace Allocator;

/// <summary>
/// Thrown in <see cref="SafetyMode.Guarded"/> mode by the call that finds a write outside a buffer, or to one after its return: a
/// <c>Dispose</c>, an allocation, or a release of what the allocator keeps. What that call had to do has been done.
/// </summary>
/// <remarks>
/// Where no call can throw, in a finalizer for instance, the finding is only raised as <see cref="MemoryDiagnostics.CorruptionFound"/>,
/// which has all others too.
/// </remarks>
public sealed class MemoryCorruptedException : InvalidOperationException
{
    internal MemoryCorruptedException(CorruptionEventArgs corruption)
        : base(corruption.ToString()) => Corruption = corruption;

    /// <summary>Gets what was found, and whose memory it was.</summary>
    public CorruptionEventArgs Corruption { get; }
}
