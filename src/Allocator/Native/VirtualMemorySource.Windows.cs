using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Memory from <c>VirtualAlloc</c>.</summary>
internal sealed unsafe class WindowsMemorySource(int overreadToleranceInBytes = 0)
    : VirtualMemorySource(Environment.SystemPageSize, overreadToleranceInBytes)
{
    private const uint Commit = 0x1000;
    private const uint Reserve = 0x2000;
    private const uint Decommit = 0x4000;
    private const uint ReleaseAll = 0x8000;
    private const uint ReadWrite = 0x04;
    private const uint ReadOnly = 0x02;
    private const uint NoAccess = 0x01;

    // Reservations start on this boundary (SYSTEM_INFO.dwAllocationGranularity, 64 KiB on every Windows so far).
    private const int Granularity = 64 * 1024;

    // Another thread may take the aligned range after the larger one was given back and before it is taken again.
    private const int AlignmentTries = 16;

    // The first page of every part, and the page behind the last part.
    private long ReadablePageInBytes => OverreadToleranceInBytes > 0 ? PageSizeInBytes : 0;

    public override nint TryReserve(long lengthInBytes, long partInBytes)
    {
        AssertPages(0, lengthInBytes);
        AssertPages(0, partInBytes);
        nint address = TryMap(lengthInBytes + ReadablePageInBytes, MaximumAlignment, Reserve, NoAccess);
        if (address == 0 || ReadablePageInBytes == 0)
        {
            return address;
        }

        for (long offset = 0; offset <= lengthInBytes; offset += partInBytes)
        {
            if (VirtualAlloc((byte*)address + offset, (nuint)ReadablePageInBytes, Commit, ReadOnly) == null)
            {
                Free(address, lengthInBytes);
                return 0;
            }
        }

        return address;
    }

    public override bool TryCommit(nint address, long lengthInBytes, out bool zeroed)
    {
        zeroed = true;
        if (VirtualAlloc((void*)address, (nuint)lengthInBytes, Commit, ReadWrite) == null)
        {
            return false;
        }

        // The first page was committed before. Whether the call above makes it writable is not documented.
        if (ReadablePageInBytes > 0 && !TrySetProtection(address, ReadablePageInBytes, ReadWrite))
        {
            TryDecommit(address + (nint)ReadablePageInBytes, lengthInBytes - ReadablePageInBytes);
            return false;
        }

        return true;
    }

    public override bool TryPurge(nint address, long lengthInBytes)
    {
        if (!TryDecommit(address + (nint)ReadablePageInBytes, lengthInBytes - ReadablePageInBytes))
        {
            return false;
        }

        NativeBytes.Clear(address, ReadablePageInBytes);

        // If this is refused, the page stays writable, and is zero all the same. Only a program that writes beyond its buffer can notice.
        TrySetProtection(address, ReadablePageInBytes, ReadOnly);
        return true;
    }

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        AssertRequest(lengthInBytes, alignmentInBytes);
        zeroed = true;
        return TryMap(RoundUp(lengthInBytes + OverreadToleranceInBytes), alignmentInBytes, Reserve | Commit, ReadWrite);
    }

    public override bool TryProtect(nint address, long lengthInBytes)
    {
        AssertPages(address, lengthInBytes);
        return TrySetProtection(address, lengthInBytes, NoAccess);
    }

    public override bool TryUnprotect(nint address, long lengthInBytes) => TrySetProtection(address, lengthInBytes, ReadWrite);

    // Addresses without memory fault by themselves.
    public override bool TryDecommitAndProtect(nint address, long lengthInBytes)
    {
        AssertPages(address, lengthInBytes);
        return TryDecommit(address, lengthInBytes);
    }

    public override void Free(nint address, long lengthInBytes)
    {
        if (VirtualFree((void*)address, 0, ReleaseAll) == 0)
        {
            MemoryDiagnostics.CountRefusedUnmap();
        }
    }

    private static bool TryDecommit(nint address, long lengthInBytes) =>
        lengthInBytes == 0 || VirtualFree((void*)address, (nuint)lengthInBytes, Decommit) != 0;

    private static bool TrySetProtection(nint address, long lengthInBytes, uint protection)
    {
        uint former;
        return VirtualProtect((void*)address, (nuint)lengthInBytes, protection, &former) != 0;
    }

    private static nint TryMap(long lengthInBytes, int alignmentInBytes, uint type, uint protection)
    {
        if (!IsAddressable(lengthInBytes))
        {
            return 0;
        }

        if (alignmentInBytes <= Granularity)
        {
            return (nint)VirtualAlloc(null, (nuint)lengthInBytes, type, protection);
        }

        for (int i = 0; i < AlignmentTries; i++)
        {
            void* tooLarge = VirtualAlloc(null, (nuint)(lengthInBytes + alignmentInBytes), Reserve, NoAccess);
            if (tooLarge == null)
            {
                return 0;
            }

            void* aligned = (void*)(((long)tooLarge + alignmentInBytes - 1) & -(long)alignmentInBytes);
            VirtualFree(tooLarge, 0, ReleaseAll);
            void* mapped = VirtualAlloc(aligned, (nuint)lengthInBytes, type, protection);
            if (mapped != null)
            {
                return (nint)mapped;
            }
        }

        return 0;
    }

    [DllImport("kernel32")]
    private static extern void* VirtualAlloc(void* address, nuint size, uint allocationType, uint protection);

    [DllImport("kernel32")]
    private static extern int VirtualFree(void* address, nuint size, uint freeType);

    [DllImport("kernel32")]
    private static extern int VirtualProtect(void* address, nuint size, uint protection, uint* formerProtection);
}
