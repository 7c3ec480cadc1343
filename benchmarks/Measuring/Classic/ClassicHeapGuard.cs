using System.Runtime.InteropServices;

namespace Measuring.Classic;

/// <summary>Guards memory that came from the heap and goes back there.</summary>
public sealed class ClassicHeapGuard : ClassicGuard
{
    private readonly nint _memory;

    /// <summary>Guards <paramref name="memory"/>.</summary>
    public ClassicHeapGuard(nint memory) => _memory = memory;

    /// <inheritdoc/>
    protected override void Release() => Marshal.FreeHGlobal(_memory);
}
