using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>Windows' own word that the machine's physical memory runs low (<c>CreateMemoryResourceNotification</c>). The handle stays open as long as the process runs.</summary>
internal sealed unsafe class LowMemoryNotification
{
    private const int LowMemory = 0; // LowMemoryResourceNotification

    private readonly nint _handle = CreateMemoryResourceNotification(LowMemory);

    /// <summary>Gives whether memory runs low; null where Windows does not tell.</summary>
    public bool? TryRead()
    {
        int isLow;
        return _handle != 0 && QueryMemoryResourceNotification(_handle, &isLow) != 0 ? isLow != 0 : null;
    }

    [DllImport("kernel32")]
    private static extern nint CreateMemoryResourceNotification(int kind);

    [DllImport("kernel32")]
    private static extern int QueryMemoryResourceNotification(nint handle, int* state);
}
