using System.Runtime.InteropServices;

namespace Measuring.Classic;

/// <summary>Guards memory that came from the heap and goes back there.</summary>
public sealed class ClassicHeapGuard(nint memory) : ClassicGuard
{
    private readonly nint _memory = memory;

    protected override void Release() => Marshal.FreeHGlobal(_memory);
}
