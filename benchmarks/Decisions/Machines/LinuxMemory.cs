using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace Decisions.Machines;

/// <summary>The system calls that are compared with each other, as Linux on x64 and arm64 numbers their arguments.</summary>
internal static unsafe class LinuxMemory
{
    /// <summary>Takes the memory at once; the next touch finds zeros.</summary>
    public const int AdviseDontNeed = 4;

    /// <summary>Lets the system take the memory when it is short.</summary>
    public const int AdviseFree = 8;

    private const int AdviseHugePage = 14;
    private const int AdviseNoHugePage = 15;
    private const int ReadWrite = 1 | 2;
    private const int PrivateAnonymousNoReserve = 0x02 | 0x20 | 0x4000;
    private const int Fixed = 0x10;
    private const int FixedNoReplace = 0x100000;
    private const int LowHalf = 0x40;

    /// <summary>Gets whether these calls exist here.</summary>
    public static bool IsAvailable => OperatingSystem.IsLinux();

    /// <summary>Gets whether <see cref="TryMapLow"/> does anything: only Linux on x64 knows it.</summary>
    public static bool CanMapLow => IsAvailable && RuntimeInformation.ProcessArchitecture == Architecture.X64;

    /// <summary>Maps memory on a boundary of 2 MiB, for huge pages or against them.</summary>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    public static nint Map(long lengthInBytes, bool hugePages)
    {
        const long Boundary = 2 * MemorySize.Megabyte;
        byte* mapped = (byte*)LibC.MMap(null, (nuint)(lengthInBytes + Boundary), ReadWrite, PrivateAnonymousNoReserve, -1, 0);
        if ((nint)mapped == -1)
        {
            throw new OutOfMemoryException($"mmap refused {lengthInBytes + Boundary} bytes: error {Marshal.GetLastPInvokeError()}.");
        }

        byte* start = (byte*)(((long)mapped + Boundary - 1) & -Boundary);
        if (start > mapped)
        {
            _ = LibC.MUnmap(mapped, (nuint)(start - mapped));
        }

        _ = LibC.MUnmap(start + lengthInBytes, (nuint)(mapped + Boundary - start));
        AdviseOnHugePages((nint)start, lengthInBytes, hugePages);
        return (nint)start;
    }

    /// <summary>Replaces whatever is mapped there by fresh memory, in one call.</summary>
    public static void MapOver(nint address, long lengthInBytes, bool hugePages)
    {
        Check(LibC.MMap((void*)address, (nuint)lengthInBytes, ReadWrite, PrivateAnonymousNoReserve | Fixed, -1, 0) == (void*)address, "mmap");
        AdviseOnHugePages(address, lengthInBytes, hugePages);
    }

    /// <summary>Maps memory at an address. False where something else lies there.</summary>
    public static bool TryMapAt(nint address, long lengthInBytes, bool hugePages)
    {
        void* mapped = LibC.MMap((void*)address, (nuint)lengthInBytes, ReadWrite, PrivateAnonymousNoReserve | FixedNoReplace, -1, 0);
        if (mapped == (void*)address)
        {
            AdviseOnHugePages(address, lengthInBytes, hugePages);
            return true;
        }

        if ((nint)mapped != -1)
        {
            // Kernels before 4.17 take the address for a wish.
            Unmap((nint)mapped, lengthInBytes);
        }

        return false;
    }

    /// <summary>Maps memory anywhere in the second GB of the address space, where the system finds a hole; 0 where there is none. pre: <see cref="CanMapLow"/>.</summary>
    public static nint TryMapLow(long lengthInBytes)
    {
        nint mapped = (nint)LibC.MMap(null, (nuint)lengthInBytes, ReadWrite, PrivateAnonymousNoReserve | LowHalf, -1, 0);
        return mapped == -1 ? 0 : mapped;
    }

    /// <summary>Unmaps.</summary>
    public static void Unmap(nint address, long lengthInBytes) => Check(LibC.MUnmap((void*)address, (nuint)lengthInBytes) == 0, "munmap");

    /// <summary>Says what becomes of memory.</summary>
    public static void Advise(nint address, long lengthInBytes, int advice)
        => Check(LibC.MAdvise((void*)address, (nuint)lengthInBytes, advice) == 0, "madvise");

    /// <summary>Makes memory inaccessible, or accessible again.</summary>
    public static void Protect(nint address, long lengthInBytes, bool accessible)
        => Check(LibC.MProtect((void*)address, (nuint)lengthInBytes, accessible ? ReadWrite : 0) == 0, "mprotect");

    /// <summary>Returns how many mappings this process has.</summary>
    public static int CountMappings() => File.ReadLines("/proc/self/maps").Count();

    // A kernel without huge pages refuses, and nothing is lost.
    private static void AdviseOnHugePages(nint address, long lengthInBytes, bool hugePages)
        => _ = LibC.MAdvise((void*)address, (nuint)lengthInBytes, hugePages ? AdviseHugePage : AdviseNoHugePage);

    private static void Check(bool succeeded, string call)
    {
        if (!succeeded)
        {
            throw new InvalidOperationException($"{call} failed: error {Marshal.GetLastPInvokeError()}.");
        }
    }

    private static class LibC
    {
        [DllImport("libc", EntryPoint = "mmap", SetLastError = true)]
        public static extern void* MMap(void* address, nuint length, int protection, int flags, int file, nint offset);

        [DllImport("libc", EntryPoint = "munmap", SetLastError = true)]
        public static extern int MUnmap(void* address, nuint length);

        [DllImport("libc", EntryPoint = "mprotect", SetLastError = true)]
        public static extern int MProtect(void* address, nuint length, int protection);

        [DllImport("libc", EntryPoint = "madvise", SetLastError = true)]
        public static extern int MAdvise(void* address, nuint length, int advice);
    }
}
