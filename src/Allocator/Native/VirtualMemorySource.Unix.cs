using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>Memory from <c>mmap</c>, on Linux and macOS.</summary>
internal sealed unsafe class UnixMemorySource : VirtualMemorySource
{
    private readonly bool _useHugePages;
    private readonly int? _hugePageAdvice;
    private readonly bool _useGuardAdvice;

    // Once set it stays: what was writable before stays so, and one more call for it does no harm.
    private volatile bool _protectsUncommitted;

    // The defaults: guard advice where the kernel knows it, the system's page and huge page, and reservations that are writable only
    // where they are committed where the process pays for what is writable.
    public UnixMemorySource(
        bool useHugePages,
        bool useGuardAdvice = true,
        int? pageSizeInBytes = null,
        int overreadToleranceInBytes = 0,
        bool? protectsUncommitted = null,
        long? hugePageInBytes = null)
        : base(pageSizeInBytes ?? Environment.SystemPageSize, overreadToleranceInBytes)
    {
        // With pages of 16 or 64 KiB a huge page, of 32 or 512 MiB, is larger than a block: the kernel would put memory behind purged
        // blocks again, because of others beside them.
        _useHugePages = useHugePages && (hugePageInBytes ?? Kernel.HugePageInBytes) <= MaximumAlignment;
        _hugePageAdvice = _useHugePages ? LibC.AdviceHugePage : LibC.AdviceNoHugePage;
        _useGuardAdvice = useGuardAdvice && Kernel.KnowsGuardAdvice;
        _protectsUncommitted = protectsUncommitted ?? Kernel.CountsWritable;
    }

    public override nint TryReserve(long lengthInBytes, long partInBytes)
    {
        AssertPages(0, lengthInBytes);
        AssertPages(0, partInBytes);

        // What is readable and not writable is never charged, and a read of it takes no memory: the kernel puts its page of zeros there.
        bool becomesWritable = !_protectsUncommitted;
        int protection = becomesWritable || OverreadToleranceInBytes > 0 ? LibC.ProtectRead : LibC.ProtectNone;
        nint address = TryMap(WithTail(lengthInBytes), MaximumAlignment, protection);

        // Writable from the start, so that a commit takes no call: one that changes the protection of a block waits for the page faults of
        // other threads in the same mapping, and of 500 threads most committed a block meanwhile, where a few blocks serve them all.
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

        // Untouched since it was mapped, or purged by MADV_DONTNEED: Linux gives zero pages in both cases.
        zeroed = LibC.PurgeZeroes;
        if (_protectsUncommitted && LibC.MProtect((void*)address, (nuint)lengthInBytes, LibC.ProtectReadWrite) != 0)
        {
            return false;
        }

        if (LibC.AdviceReuse is int reuse)
        {
            // Without it macOS goes on counting the pages as free, and may take them.
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

        // From 2 MiB on the mapping starts where a huge page can start. Below, nothing is gained by it.
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

        // Locked pages are refused it, hence the second way for all.
        if (_useGuardAdvice && LibC.MAdvise((void*)address, (nuint)lengthInBytes, LibC.AdviceInstallGuard) == 0)
        {
            return true;
        }

        // In this order: macOS takes no memory from what is not writable, and where locked pages are refused it nothing has changed.
        return TryPurge(address, lengthInBytes) && TryProtect(address, lengthInBytes);
    }

    public override long ResidentUnitInBytes => _useHugePages ? Math.Max(PageSizeInBytes, Kernel.HugePageInUse) : PageSizeInBytes;

    public override bool TryPopulate(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();

        // Linux 5.14 and later do it in one call. What they refuse must not be written to by hand: that would end the process.
        return Kernel.KnowsPopulateAdvice
            ? LibC.MAdvise((void*)address, (nuint)lengthInBytes, LibC.AdvicePopulate) == 0
            : base.TryPopulate(address, lengthInBytes);
    }

    public override void Free(nint address, long lengthInBytes) => Unmap(address, WithTail(lengthInBytes));

    // A fresh mapping is resident only where the process locks all memory that it maps (mlockall with MCL_FUTURE): there, what is writable
    // is populated.
    private static bool IsResident(nint address)
    {
        byte isResident = 0;
        return LibC.MInCore((void*)address, (nuint)Environment.SystemPageSize, &isResident) == 0 && (isResident & 1) != 0;
    }

    // A process has a limited number of mappings (vm.max_map_count on Linux), and neighbours of one kind count as one. At the limit the
    // middle of one cannot be unmapped, because that would divide it: then the memory goes, and the addresses stay.
    private void Unmap(nint address, long lengthInBytes)
    {
        ShortLock.AssertNoneHeld();
        if (lengthInBytes == 0 || LibC.MUnmap((void*)address, (nuint)lengthInBytes) == 0)
        {
            return;
        }

        MemoryDiagnostics.CountRefusedUnmap();

        // Locked pages are refused the first advice. Here they have no holder who could miss them.
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

        // mmap knows no alignment above a page: map too much, and give the ends back.
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

        if (lengthInBytes >= MaximumAlignment && _hugePageAdvice is int advice)
        {
            // Before the first touch, or the range is populated with pages that are not wanted. A kernel without huge pages refuses, and
            // no harm is done.
            LibC.MAdvise(start, (nuint)lengthInBytes, advice);
        }

        return (nint)start;
    }

    /// <summary>What the running kernel can do, and how it counts. Found out once a process.</summary>
    private static class Kernel
    {
        /// <summary>
        /// Whether it knows <c>MADV_GUARD_INSTALL</c>, which makes every access to a range fault without dividing the mapping as
        /// <c>mprotect</c> does, of which a process may have 65,530.
        /// </summary>
        public static readonly bool KnowsGuardAdvice = IsKnown(LibC.AdviceInstallGuard);

        public static readonly bool KnowsPopulateAdvice = IsKnown(LibC.AdvicePopulate);

        // With 2 all that is writable is charged, used or not, MAP_NORESERVE or not (Documentation/mm/overcommit-accounting of Linux); and
        // all of it counts where the process has a limit (RLIMIT_DATA).
        public static readonly bool CountsWritable = SystemFile.TryRead("/proc/sys/vm/overcommit_memory")?.Trim() == "2" || HasDataLimit();

        /// <summary>The size of a transparent huge page; 0 where there are none.</summary>
        public static readonly long HugePageInBytes =
            long.TryParse(SystemFile.TryRead("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"), out long bytes) ? bytes : 0;

        /// <summary>The same if the system uses any; 0 if it was told to use none.</summary>
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

            // What takes advice that no kernel knows takes any, and follows none: qemu's user mode.
            bool isKnown = page != LibC.MapFailed
                && LibC.MAdvise(page, length, LibC.AdviceOfNoKernel) != 0
                && LibC.MAdvise(page, length, advice) == 0;
            if (page != LibC.MapFailed)
            {
                // One page, once a process: nothing is lost where it stays mapped.
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
