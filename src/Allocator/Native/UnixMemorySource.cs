using System;

namespace Allocator.Native;

/// <summary>Memory from <c>mmap</c>, on Linux and macOS.</summary>
internal sealed unsafe class UnixMemorySource : VirtualMemorySource
{
    private readonly UnixConstants _constants = UnixConstants.OfThisSystem();
    private readonly bool _useHugePages;
    private readonly bool _useGuardAdvice;

    /// <summary>Makes the source.</summary>
    /// <param name="useHugePages">Whether huge pages are asked for.</param>
    /// <param name="useGuardAdvice">Whether <c>MADV_GUARD_INSTALL</c> is to be used where the kernel knows it.</param>
    /// <param name="pageSizeInBytes">The unit to work in: a multiple of the system's page, which is the default.</param>
    public UnixMemorySource(bool useHugePages, bool useGuardAdvice = true, int? pageSizeInBytes = null)
        : base(pageSizeInBytes ?? Environment.SystemPageSize)
    {
        _useHugePages = useHugePages;
        _useGuardAdvice = useGuardAdvice && GuardAdvice.IsSupported;
    }

    public override nint TryReserve(long lengthInBytes) => TryMap(lengthInBytes, MaximumAlignment, UnixConstants.ProtectNone);

    public override bool TryCommit(nint address, long lengthInBytes, out bool zeroed)
    {
        // Untouched since it was mapped, or purged by MADV_DONTNEED: Linux gives zero pages in both cases.
        zeroed = _constants.PurgeZeroes;
        if (LibC.MProtect((void*)address, (nuint)lengthInBytes, UnixConstants.ProtectReadWrite) != 0)
        {
            return false;
        }

        if (_constants.AdviceReuse is int reuse)
        {
            // Without it macOS goes on counting the pages as free, and may take them.
            LibC.MAdvise((void*)address, (nuint)lengthInBytes, reuse);
        }

        return true;
    }

    public override bool TryPurge(nint address, long lengthInBytes) =>
        LibC.MAdvise((void*)address, (nuint)lengthInBytes, _constants.AdvicePurge) == 0;

    public override void Release(nint address, long lengthInBytes) => LibC.MUnmap((void*)address, (nuint)lengthInBytes);

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        zeroed = true;

        // From 2 MiB on the mapping starts where a huge page can start. Below, nothing is gained by it.
        int alignment = _useHugePages && lengthInBytes >= MaximumAlignment ? MaximumAlignment : alignmentInBytes;
        return TryMap(lengthInBytes, alignment, UnixConstants.ProtectReadWrite);
    }

    public override void Free(nint address, long lengthInBytes) => LibC.MUnmap((void*)address, (nuint)lengthInBytes);

    public override bool TrySeal(nint address, long lengthInBytes) =>
        LibC.MProtect((void*)address, (nuint)lengthInBytes, UnixConstants.ProtectNone) == 0;

    public override bool TryUnseal(nint address, long lengthInBytes) =>
        LibC.MProtect((void*)address, (nuint)lengthInBytes, UnixConstants.ProtectReadWrite) == 0;

    public override bool TrySealEmpty(nint address, long lengthInBytes)
    {
        // Locked pages are refused it, hence the second way for all.
        if (_useGuardAdvice && LibC.MAdvise((void*)address, (nuint)lengthInBytes, GuardAdvice.Install) == 0)
        {
            return true;
        }

        return TrySeal(address, lengthInBytes) && TryPurge(address, lengthInBytes);
    }

    public override void Populate(nint address, long lengthInBytes)
    {
        // Linux 5.14 and later do it in one call; older ones answer EINVAL, and every page is touched by hand.
        if (_constants.AdvicePopulate is not int populate || LibC.MAdvise((void*)address, (nuint)lengthInBytes, populate) != 0)
        {
            base.Populate(address, lengthInBytes);
        }
    }

    private nint TryMap(long lengthInBytes, int alignmentInBytes, int protection)
    {
        // mmap knows no alignment above a page: map too much, and give the ends back.
        long alignment = Math.Max(alignmentInBytes, PageSizeInBytes);
        long slack = alignment - Environment.SystemPageSize;
        void* mapped = LibC.MMap(null, (nuint)(lengthInBytes + slack), protection, _constants.MapFlags, -1, 0);
        if (mapped == UnixConstants.MapFailed)
        {
            return 0;
        }

        byte* start = (byte*)(((long)mapped + slack) & -alignment);
        long head = start - (byte*)mapped;
        if (head > 0)
        {
            LibC.MUnmap(mapped, (nuint)head);
        }

        if (slack - head > 0)
        {
            LibC.MUnmap(start + lengthInBytes, (nuint)(slack - head));
        }

        if (_useHugePages && lengthInBytes >= MaximumAlignment && _constants.AdviceHugePage is int hugePage)
        {
            // Before the first touch, or the range is populated with small pages. A kernel without huge pages refuses, and no harm is done.
            LibC.MAdvise(start, (nuint)lengthInBytes, hugePage);
        }

        return (nint)start;
    }
}
