using System.Globalization;

namespace Allocator.Tests.Native;

public class VirtualMemorySourceTests
{
    private const int Block = 4 * 1024 * 1024;

    // The private memory of this process that is writable, touched or not.
    private static long DataBytes =>
        long.Parse(File.ReadLines("/proc/self/status").First(static line => line.StartsWith("VmData:", StringComparison.Ordinal))
            .Split((char[])['\t', ' '], StringSplitOptions.RemoveEmptyEntries)[1]) * 1024;

    [SkippableTheory]
    [InlineData(HugePages.Auto, false)]
    [InlineData(HugePages.Off, false)]
    [InlineData(HugePages.Off, true)]
    public unsafe void TryPurge_CommittedPart_TakesTheMemoryAndKeepsAddressesAndNeighbours(HugePages hugePages, bool protectsUncommitted)
    {
        Skip.If(protectsUncommitted && OperatingSystem.IsWindows(), "Windows always protects it.");
        VirtualMemorySource source = protectsUncommitted
            ? new UnixMemorySource(useHugePages: false, protectsUncommitted: true)
            : VirtualMemorySource.Create(hugePages);
        nint address = source.TryReserve(4 * Block, Block);
        Assert.NotEqual(0, address);
        Assert.Equal(0, address % NativeMemorySource.MaximumAlignment);

        for (int i = 0; i < 3; i++)
        {
            Assert.True(source.TryCommit(address + i * Block, Block, out bool zeroed));
            Span<byte> block = new((void*)(address + i * Block), Block);
            Assert.True(!zeroed || block.IndexOfAnyExcept((byte)0) < 0);
            block.Fill((byte)(i + 1));
        }

        Assert.True(source.TryPurge(address + Block, Block));
        Assert.True(source.TryCommit(address + Block, Block, out bool zeroedAgain));
        Assert.True(!zeroedAgain || new Span<byte>((void*)(address + Block), Block).IndexOfAnyExcept((byte)0) < 0);
        Assert.Equal(-1, new Span<byte>((void*)address, Block).IndexOfAnyExcept((byte)1));
        Assert.Equal(-1, new Span<byte>((void*)(address + 2 * Block), Block).IndexOfAnyExcept((byte)3));
        source.Free(address, 4 * Block);
    }

    // Figures of the whole process: in one of its own.
    [SkippableFact]
    public void TryPurge_OnLinux_LowersTheResidentSet()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(static () =>
        {
            VirtualMemorySource source = VirtualMemorySource.Create(HugePages.Auto);
            nint address = source.TryReserve(16 * Block, 16 * Block);
            Assert.True(source.TryCommit(address, 16 * Block, out _));
            Fill(address, 16 * Block);
            long before = ResidentSet.Bytes;
            Assert.True(source.TryPurge(address, 16 * Block));
            Assert.InRange(before - ResidentSet.Bytes, 15L * Block, 17L * Block);
            source.Free(address, 16 * Block);
        }).Dispose();
    }

    [SkippableFact]
    public void Populate_OnLinux_MakesPagesResidentAndKeepsContents()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(static () =>
        {
            VirtualMemorySource source = VirtualMemorySource.Create(HugePages.Auto);
            nint address = source.TryReserve(8 * Block, 8 * Block);
            Assert.True(source.TryCommit(address, 8 * Block, out _));
            Fill(address, 1);
            long before = ResidentSet.Bytes;
            Assert.True(source.TryPopulate(address, 8 * Block));
            Assert.InRange(ResidentSet.Bytes - before, 5L * Block, 9L * Block);
            Assert.Equal(1, Read(address));
            source.Free(address, 8 * Block);
        }).Dispose();
    }

    // A write to such a page would end the process.
    [SkippableFact]
    public unsafe void TryPopulate_PagesThatCannotBeWritten_IsRefused()
    {
        Skip.IfNot(OperatingSystem.IsLinux() && Environment.OSVersion.Version >= new Version(5, 14), "Needs the advice of Linux 5.14.");
        UnixMemorySource source = new(useHugePages: false);
        nint address = source.TryAllocate(Block, NativeMemorySource.MinimumAlignment, out _);
        Assert.True(source.TryPopulate(address, Block));
        Assert.True(source.TryProtect(address, Block));
        Assert.False(source.TryPopulate(address, Block));
        source.Free(address, Block);
    }

    // A read must not take what it reads: least of all 2 MiB, where huge pages are asked for.
    [SkippableTheory]
    [InlineData(HugePages.Auto)]
    [InlineData(HugePages.Off)]
    public void TryReserve_ReadInEveryPart_TakesNoMemory(HugePages hugePages)
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        ResidentSet.SkipIfReadsTakeMemory();
        RemoteExecutor.Invoke(
            static hugePages =>
            {
                VirtualMemorySource source = VirtualMemorySource.Create(Enum.Parse<HugePages>(hugePages), overreadToleranceInBytes: 64);
                nint address = source.TryReserve(64 * Block, Block);
                long before = ResidentSet.Bytes;
                ReadEveryPart(address);
                Assert.InRange(ResidentSet.Bytes - before, -Block, Block);

                Assert.True(source.TryCommit(address + 8 * Block, Block, out _));
                Fill(address + 8 * Block, Block);
                Assert.True(source.TryPurge(address + 8 * Block, Block));
                ReadEveryPart(address);
                Assert.InRange(ResidentSet.Bytes - before, -Block, Block);
                source.Free(address, 64 * Block);
            },
            hugePages.ToString()).Dispose();
    }

    // "hg" and "nh" are the kernel's words for a mapping that was advised to have huge pages, and to have none. A huge page that is larger
    // than a block brings purged blocks back with their neighbours; and where the system's setting is always, no advice is no refusal.
    [SkippableTheory]
    [InlineData(HugePages.Auto, 2, "hg")]
    [InlineData(HugePages.Auto, 32, "nh")]
    [InlineData(HugePages.Auto, 512, "nh")]
    [InlineData(HugePages.Off, 2, "nh")]
    public void TryReserve_HugePagesOfSomeSize_AsksForThemWhereTheyFitABlock(HugePages hugePages, int hugePageMegabytes, string flag)
    {
        Skip.IfNot(Directory.Exists("/sys/kernel/mm/transparent_hugepage"), "Needs a Linux kernel with transparent huge pages.");
        UnixMemorySource source = new(hugePages == HugePages.Auto, hugePageInBytes: (long)hugePageMegabytes << 20);
        nint reserved = source.TryReserve(4 * Block, Block);
        nint mapped = source.TryAllocate(Block, NativeMemorySource.MinimumAlignment, out _);

        Assert.Contains(flag, FlagsOf(reserved));
        Assert.Contains(flag, FlagsOf(mapped));

        source.Free(mapped, Block);
        source.Free(reserved, 4 * Block);
    }

    // Where all memory that is mapped is locked, the kernel populates what is writable. A pool must not take 256 MB for its first block.
    [SkippableTheory]
    [InlineData(0)]
    [InlineData(64)]
    public void TryReserve_ProcessLocksWhatItMaps_TakesNoMemoryForUncommittedBlocks(int overreadTolerance)
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs mlockall.");
        ResidentSet.SkipIfReadsTakeMemory();
        const int NotAllowed = 1;
        using RemoteInvokeHandle child = RemoteExecutor.Invoke(
            static tolerance =>
            {
                const int OnlyWhatIsMappedFromNowOn = 2;
                if (MLockAll(OnlyWhatIsMappedFromNowOn) != 0)
                {
                    return NotAllowed;
                }

                VirtualMemorySource source = VirtualMemorySource.Create(HugePages.Auto, int.Parse(tolerance));
                long before = ResidentSet.Bytes;
                nint address = source.TryReserve(64 * Block, Block);
                Assert.True(source.TryCommit(address, Block, out _));
                Fill(address, Block);

                Assert.InRange(ResidentSet.Bytes - before, 0, 16 * Block);
                source.Free(address, 64 * Block);
                return RemoteExecutor.SuccessExitCode;
            },
            overreadTolerance.ToString(),
            new RemoteInvokeOptions { CheckExitCode = false });
        Skip.If(child.ExitCode == NotAllowed, "No memory may be locked here.");
        Assert.Equal(RemoteExecutor.SuccessExitCode, child.ExitCode);
    }

    // All that is writable counts against such a limit, touched or not: a pool must not take 256 MB of it for its first block.
    [SkippableFact]
    public void TryReserve_ProcessHasADataLimit_CountsCommittedBlocksOnly()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's limit of private writable memory.");
        RemoteExecutor.Invoke(static () =>
        {
            LimitData(DataBytes + 1024L * Block);
            VirtualMemorySource source = VirtualMemorySource.Create(HugePages.Auto, overreadToleranceInBytes: 64);
            long before = DataBytes;
            nint address = source.TryReserve(64 * Block, Block);
            Assert.True(source.TryCommit(address, Block, out _));
            Fill(address, Block);

            Assert.InRange(DataBytes - before, Block, 16 * Block);
            source.Free(address, 64 * Block);
        }).Dispose();
    }

    private static void LimitData(long bytes)
    {
        const int Data = 2;
        Assert.Equal(0, SetLimit(Data, [(nuint)bytes, (nuint)bytes]));
    }

    [DllImport("libc", EntryPoint = "setrlimit")]
    private static extern int SetLimit(int resource, nuint[] softAndHard);

    [DllImport("libc", EntryPoint = "mlockall")]
    private static extern int MLockAll(int flags);

    private static void ReadEveryPart(nint address)
    {
        for (int i = 0; i <= 64; i++)
        {
            Assert.Equal(0, Read(address + i * Block));
        }
    }

    // What the kernel has noted of the mapping that contains the address.
    private static string[] FlagsOf(nint address) =>
        File.ReadLines("/proc/self/smaps")
            .SkipWhile(line => !Contains(line, address))
            .First(static line => line.StartsWith("VmFlags:", StringComparison.Ordinal))
            .Split((char[])[' '], StringSplitOptions.RemoveEmptyEntries);

    private static bool Contains(string line, nint address) =>
        line.Split(' ')[0].Split('-') is [string start, string end]
        && long.TryParse(start, NumberStyles.AllowHexSpecifier, null, out long first)
        && long.TryParse(end, NumberStyles.AllowHexSpecifier, null, out long last)
        && address >= first && address < last;

    private static unsafe void Fill(nint address, int length) => new Span<byte>((void*)address, length).Fill(1);

    private static unsafe byte Read(nint address) => *(byte*)address;
}
