using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Memory from <c>mmap</c>, on Linux and macOS. By default with guard advice if the kernel knows it, and the system's page and huge page.
/// If writable pages count against a limit of the process, only committed pages are made writable.
/// </summary>
internal sealed unsafe class UnixMemorySource(
    bool useHugePages, bool useGuardAdvice = true, int? pageSizeInBytes = null, int overreadToleranceInBytes = 0,
    bool? protectsUncommitted = null, long? hugePageInBytes = null)
    : VirtualMemorySource(pageSizeInBytes ?? Environment.SystemPageSize, overreadToleranceInBytes)
{
    // With pages of 16 or 64 KiB a huge page has 32 or 512 MiB, more than a block: the kernel would put memory behind purged blocks again
    // because of their neighbours.
    private readonly bool _useHugePages = useHugePages && (hugePageInBytes ?? Kernel.HugePageInBytes) <= MaximumAlignment;
    private readonly bool _useGuardAdvice = useGuardAdvice && Kernel.KnowsGuardAdvice;

    // Never unset: memory that was writable before stays writable, and one more call for it does no harm.
    private volatile bool _protectsUncommitted = protectsUncommitted ?? Kernel.CountsWritable;

    public override nint TryReserve(long lengthInBytes, long partInBytes)
    {
        AssertPages(0, lengthInBytes);
        AssertPages(0, partInBytes);

        // Memory that is readable but not writable is never charged, and reading it takes none: the kernel maps its page of zeros there.
        bool becomesWritable = !_protectsUncommitted;
        int protection = becomesWritable || OverreadToleranceInBytes > 0 ? LibC.ProtectRead : LibC.ProtectNone;
        nint address = TryMap(WithTail(lengthInBytes), MaximumAlignment, protection);

        // Writable from the start, so that a commit takes no call. A call that changes a block's protection waits for page faults of other
        // threads in the same mapping. With 500 threads, most committed a block during that wait, although a few blocks would do.
        if (address != 0 && becomesWritable
            && (IsResident(address) || LibC.MProtect((void*)address, (nuint)lengthInBytes, LibC.ProtectReadWrite) != 0))
        {
            // Never back to false: another thread's reservation may have been refused meanwhile.
            _protectsUncommitted = true;
        }

        return address;
    }

    public override bool TryCommit(nint address, long lengthInBytes, out bool zeroed)
    {
        ShortLock.AssertNoneHeld();

        // Untouched since it was mapped, or purged by MADV_DONTNEED. Linux supplies zero pages in both cases.
        zeroed = LibC.PurgeZeroes;
        if (_protectsUncommitted && LibC.MProtect((void*)address, (nuint)lengthInBytes, LibC.ProtectReadWrite) != 0)
        {
            return false;
        }

        if (LibC.AdviceReuse is int reuse)
        {
            // Without this, macOS goes on counting the pages as free, and may take them.
            LibC.MAdvise((void*)address, (nuint)lengthInBytes, reuse);
        }

        return true;
    }

    public override bool TryPurge(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();
        return LibC.MAdvise((void*)address, (nuint)lengthInBytes, LibC.AdvicePurge) == 0;
    }

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        AssertRequest(lengthInBytes, alignmentInBytes);
        zeroed = true;

        // From 2 MiB on, the mapping starts at a huge-page boundary. Smaller mappings would gain nothing by it.
        int alignment = _useHugePages && lengthInBytes >= MaximumAlignment ? MaximumAlignment : alignmentInBytes;
        return TryMap(WithTail(lengthInBytes), alignment, LibC.ProtectReadWrite);
    }

    public override bool TryProtect(nint address, long lengthInBytes)
    {
        AssertPages(address, lengthInBytes);
        return LibC.MProtect((void*)address, (nuint)lengthInBytes, LibC.ProtectNone) == 0;
    }

    public override bool TryUnprotect(nint address, long lengthInBytes) =>
        LibC.MProtect((void*)address, (nuint)lengthInBytes, LibC.ProtectReadWrite) == 0;

    public override bool TryDecommitAndProtect(nint address, long lengthInBytes)
    {
        AssertPages(address, lengthInBytes);

        // The advice is refused for locked pages; the second way works for them.
        if (_useGuardAdvice && LibC.MAdvise((void*)address, (nuint)lengthInBytes, LibC.AdviceInstallGuard) == 0)
        {
            return true;
        }

        // In this order: macOS takes no memory from pages that are not writable, and if it refuses to purge locked pages, nothing changes.
        return TryPurge(address, lengthInBytes) && TryProtect(address, lengthInBytes);
    }

    public override long ResidentUnitInBytes => _useHugePages ? Math.Max(PageSizeInBytes, Kernel.HugePageInUse) : PageSizeInBytes;

    public override bool TryPopulate(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();

        // Linux 5.14 and later do it in one call. If they refuse, the pages must not be written to by hand: that would end the process.
        return Kernel.KnowsPopulateAdvice
            ? LibC.MAdvise((void*)address, (nuint)lengthInBytes, LibC.AdvicePopulate) == 0
            : base.TryPopulate(address, lengthInBytes);
    }

    public override void Free(nint address, long lengthInBytes) => Unmap(address, WithTail(lengthInBytes));

    // A fresh mapping is resident only if the process locks all memory that it maps (mlockall with MCL_FUTURE). Then writable memory is
    // populated at once.
    private static bool IsResident(nint address)
    {
        byte isResident = 0;
        return LibC.MInCore((void*)address, (nuint)Environment.SystemPageSize, &isResident) == 0 && (isResident & 1) != 0;
    }

    // A process has a limited number of mappings (vm.max_map_count on Linux), and neighbours of one kind count as one. At the limit the
    // middle of a mapping cannot be unmapped, because that would divide it. Then the memory goes, and the addresses stay.
    private void Unmap(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();
        if (lengthInBytes == 0 || LibC.MUnmap((void*)address, (nuint)lengthInBytes) == 0)
        {
            return;
        }

        MemoryDiagnostics.CountRefusedUnmap();

        // The first advice is refused for locked pages. Their contents are no longer needed, so the second one may drop them.
        if (!TryPurge(address, lengthInBytes) && LibC.AdvicePurgeLocked is int locked)
        {
            LibC.MAdvise((void*)address, (nuint)lengthInBytes, locked);
        }
    }

    private long WithTail(long lengthInBytes) => RoundUp(lengthInBytes + OverreadToleranceInBytes);

    private nint TryMap(long lengthInBytes, int alignmentInBytes, int protection)
    {
        ShortLock.AssertNoneHeld();
        if (!IsAddressable(lengthInBytes))
        {
            return 0;
        }

        // mmap aligns to a page at most: map too much, and give the ends back.
        long alignment = Math.Max(alignmentInBytes, PageSizeInBytes);
        long slack = alignment - Environment.SystemPageSize;
        void* mapped = LibC.MMap(null, (nuint)(lengthInBytes + slack), protection, LibC.MapFlags, -1);
        if (mapped == LibC.MapFailed)
        {
            return 0;
        }

        byte* start = (byte*)(((long)mapped + slack) & -alignment);
        long head = start - (byte*)mapped;
        Unmap((nint)mapped, head);
        Unmap((nint)(start + lengthInBytes), slack - head);

        if (lengthInBytes >= MaximumAlignment && (_useHugePages ? LibC.AdviceHugePage : LibC.AdviceNoHugePage) is int advice)
        {
            // Before the first touch: otherwise the range is populated with pages of the wrong size. A kernel without huge pages refuses,
            // and no harm is done.
            LibC.MAdvise(start, (nuint)lengthInBytes, advice);
        }

        return (nint)start;
    }

    /// <summary>The abilities and accounting of the running kernel. Found out once a process.</summary>
    private static class Kernel
    {
        /// <summary>
        /// Whether the kernel knows <c>MADV_GUARD_INSTALL</c>. It makes every access to a range fault without dividing the mapping, as
        /// <c>mprotect</c> does; a process may have only 65,530 mappings.
        /// </summary>
        public static readonly bool KnowsGuardAdvice = IsKnown(LibC.AdviceInstallGuard);

        public static readonly bool KnowsPopulateAdvice = IsKnown(LibC.AdvicePopulate);

        // With 2, all writable memory is charged, used or not, MAP_NORESERVE or not (Documentation/mm/overcommit-accounting of Linux). If
        // the process has a limit (RLIMIT_DATA), all of it counts too.
        public static readonly bool CountsWritable = SystemFile.TryRead("/proc/sys/vm/overcommit_memory")?.Trim() == "2" || HasDataLimit();

        /// <summary>The size of a transparent huge page; 0 if there are none.</summary>
        public static readonly long HugePageInBytes =
            long.TryParse(SystemFile.TryRead("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"), out long bytes) ? bytes : 0;

        /// <summary>The size if the system uses any; 0 if it was told to use none.</summary>
        public static readonly long HugePageInUse =
            SystemFile.TryRead("/sys/kernel/mm/transparent_hugepage/enabled")?.Contains("[never]") == false ? HugePageInBytes : 0;

        private static bool IsKnown(int advice)
        {
            if (!RuntimeInformation.IsOSPlatform(OSPlatform.Linux))
            {
                return false;
            }

            nuint length = (nuint)Environment.SystemPageSize;
            void* page = LibC.MMap(null, length, LibC.ProtectReadWrite, LibC.MapFlags, -1);

            // A system that accepts advice unknown to every kernel accepts any, and follows none: qemu's user mode.
            bool isKnown = page != LibC.MapFailed
                && LibC.MAdvise(page, length, LibC.AdviceOfNoKernel) != 0
                && LibC.MAdvise(page, length, advice) == 0;
            if (page != LibC.MapFailed)
            {
                // One page, once a process: nothing is lost if it stays mapped.
                LibC.MUnmap(page, length);
            }

            return isKnown;
        }

        private static bool HasDataLimit()
        {
            const string Label = "Max data size";
            string limits = SystemFile.TryRead("/proc/self/limits") ?? string.Empty;
            int start = limits.IndexOf(Label, StringComparison.Ordinal);
            return start >= 0 && !limits.Substring(start + Label.Length).TrimStart().StartsWith("unlimited", StringComparison.Ordinal);
        }
    }
}
