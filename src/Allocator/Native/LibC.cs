using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>The calls of the C library that manage address space, and its heap.</summary>
internal static unsafe class LibC
{
    [DllImport("libc", EntryPoint = "mmap")]
    public static extern void* MMap(void* address, nuint length, int protection, int flags, int file, nint offset);

    [DllImport("libc", EntryPoint = "munmap")]
    public static extern int MUnmap(void* address, nuint length);

    [DllImport("libc", EntryPoint = "mprotect")]
    public static extern int MProtect(void* address, nuint length, int protection);

    [DllImport("libc", EntryPoint = "madvise")]
    public static extern int MAdvise(void* address, nuint length, int advice);

    [DllImport("libc", EntryPoint = "mincore")]
    public static extern int MInCore(void* address, nuint length, byte* resident);

    [DllImport("libc", EntryPoint = "malloc_trim")]
    public static extern int MallocTrim(nuint padding);

    [DllImport("libc", EntryPoint = "mallopt")]
    public static extern int MallOpt(int parameter, int value);
}
