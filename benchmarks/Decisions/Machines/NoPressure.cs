using Allocator.Diagnostics;
using Allocator.Native;

namespace Decisions.Machines;

/// <summary>Says that there is memory enough, so that what else runs on the machine does not decide when a pool is emptied.</summary>
internal sealed class NoPressure : SystemMemory
{
    /// <inheritdoc/>
    protected override MemoryLoad ReadSystem() => default;
}
