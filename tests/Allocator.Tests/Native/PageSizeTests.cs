using System.Globalization;

namespace Allocator.Tests.Native;

/// <summary>
/// Hosts with pages of 16 and 64 KiB, played by this one: everything that is asked of the system is whole pages of theirs.
/// </summary>
public class PageSizeTests
{
    public static TheoryData<int> Pages => [4096, 16384, 65536];

    [Theory]
    [MemberData(nameof(Pages))]
    public void Allocator_PagesOfAnySize_AsksTheSystemForWholePages(int page)
    {
        FakeMemorySource source = new(pageSizeInBytes: page);
        using (TestSetup setup = new(maximumBlocks: 16, source: source, blockSize: 4 * page))
        {
            foreach (int length in (int[])[TestSetup.ArrayThreshold + 1, page - 1, page, page + 1, 4 * page, 4 * page + 1, 40 * page + 7,
                64 * page + 1, 200 * page - 1])
            {
                Use(setup.Allocator, length);
            }

            setup.Allocator.Prewarm(8 * page);
            Assert.Equal(0, setup.Statistics.CommittedBytes % page);
            setup.Allocator.ReleaseRetainedResources();
            Assert.Equal((0, 0), (setup.Statistics.CommittedBytes, source.LiveBytes));
        }

        Assert.Null(source.Misaligned);
        Assert.Equal(0, source.LiveReservations);
    }

    [Theory]
    [MemberData(nameof(Pages))]
    public void Allocate_LargerThanThePool_TakesWholePagesAndCountsThem(int page)
    {
        using TestSetup setup = new(maximumBlocks: 0, source: new FakeMemorySource(pageSizeInBytes: page), blockSize: 4 * page);
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(3 * page + 1);

        Assert.Equal(4 * page, setup.Statistics.CommittedBytes);
    }

    [Theory]
    [MemberData(nameof(Pages))]
    public void Trim_OfOneIdleBlock_PurgesItsPagesAndNoOther(int page)
    {
        FakeMemorySource source = new(pageSizeInBytes: page);
        using TestSetup setup = new(maximumBlocks: 4, source: source, blockSize: page);
        using MemoryGroup<byte> kept = setup.Allocator.AllocateGroup<byte>(2 * page);
        setup.Allocator.Allocate<byte>(page).Dispose();
        kept.Fill(3);

        setup.Allocator.ReleaseRetainedResources();

        Assert.Equal(2 * page, source.LiveBytes);
        Assert.Null(source.Misaligned);
        Assert.All(Enumerable.Range(0, kept.Count), i => Assert.Equal(-1, kept[i].Span.IndexOfAnyExcept((byte)3)));
    }

    [Theory]
    [InlineData(4096, SafetyMode.Sampled)]
    [InlineData(16384, SafetyMode.Sampled)]
    [InlineData(65536, SafetyMode.Sampled)]
    [InlineData(4096, SafetyMode.Guarded)]
    [InlineData(16384, SafetyMode.Guarded)]
    [InlineData(65536, SafetyMode.Guarded)]
    public void Watched_PagesOfAnySize_FencesWholePagesAndFindsAnOverrun(int page, SafetyMode mode)
    {
        FakeMemorySource source = new(pageSizeInBytes: page);
        using (
            TestSetup setup = new(16, new MemoryAllocatorOptions { Safety = mode, SafetySampleInterval = 1 }, source, blockSize: 4 * page))
        {
            foreach (int length in (int[])[1, 100, page - 1, page, page + 1, 5 * page + 3])
            {
                Use(setup.Allocator, length);
            }

            IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(page + 1);
            Assert.Equal(2 * page, setup.Statistics.CommittedBytes - setup.Statistics.QuarantinedBytes);
            GuardedSetup.Change(GuardedSetup.AddressOf(owner) + page + 1);
            Exception? thrown = Record.Exception(owner.Dispose);
            Assert.Equal(mode == SafetyMode.Guarded, thrown is MemoryCorruptedException);
            setup.Allocator.ReleaseRetainedResources();
            Assert.Equal(0, setup.Statistics.CommittedBytes);
        }

        Assert.Null(source.Misaligned);
        Assert.Equal(0, source.LiveBytes);
    }

    [SkippableTheory]
    [InlineData(16384, true)]
    [InlineData(65536, true)]
    [InlineData(65536, false)]
    public unsafe void UnixSource_LargerPages_BeginsAndEndsOnThem(int page, bool useHugePages)
    {
        Skip.If(OperatingSystem.IsWindows(), "Windows has pages of 4 KiB.");
        UnixMemorySource source = new(useHugePages, pageSizeInBytes: page);
        Assert.Equal((page, 2 * page), (source.RoundUp(1), source.RoundUp(page + 1)));
        for (int alignment = NativeMemorySource.MinimumAlignment; alignment <= NativeMemorySource.MaximumAlignment; alignment *= 2)
        {
            nint address = source.TryAllocate(3 * page, alignment, out _);
            Assert.Equal(0, address % Math.Max(alignment, page));
            new Span<byte>((void*)address, 3 * page).Fill(1);
            Assert.True(source.TryDecommitAndProtect(address, page));
            Assert.True(source.TryProtect(address + 2 * page, page));
            source.Free(address, 3 * page);
        }

        nint reserved = source.TryReserve(8 * page, page);
        Assert.Equal(0, reserved % NativeMemorySource.MaximumAlignment);
        Assert.True(source.TryCommit(reserved + page, page, out _));
        Assert.True(source.TryPopulate(reserved + page, page));
        Assert.True(source.TryPurge(reserved + page, page));
        source.Free(reserved, 8 * page);
    }

    // What is mapped beyond the aligned part must go back, both ends of it. Figures of the whole process: in one of its own.
    [SkippableFact]
    public void UnixSource_LargerPages_LeavesNoAddressesBehind()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of address space.");
        RemoteExecutor.Invoke(static () =>
        {
            const int Page = 65536;
            UnixMemorySource source = new(useHugePages: false, pageSizeInBytes: Page);
            long before = 0;
            for (int i = 0; i < 6000; i++)
            {
                // The first thousand are for the runtime's own growth.
                before = i == 1000 ? AddressSpace() : before;
                nint address = source.TryAllocate(Page, 64, out _);
                source.Free(address, Page);
            }

            // A page of 4 KiB each would be 20 MB.
            Assert.InRange(AddressSpace() - before, -(8L << 20), 8L << 20);
        }).Dispose();
    }

    private static long AddressSpace() =>
        long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[0], CultureInfo.InvariantCulture) * Environment.SystemPageSize;

    private static void Use(MemoryAllocator allocator, int length)
    {
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(length, AllocationOptions.Clean);
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)0));
        owner.Memory.Span.Fill(1);
        using IMemoryOwner<byte> aligned = allocator.AllocateAligned<byte>(length, 4096);
        Assert.Equal(0, GuardedSetup.AddressOf(aligned) % 4096);
        aligned.Memory.Span.Fill(2);
        using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(2L * length, 10);
        group.Fill(3);
        using PixelBuffer<byte> pixels = allocator.AllocatePixels<byte>(10, length / 10 + 1);
        pixels.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y).Fill(4);
            }
        });
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)1));
        Assert.Equal(-1, aligned.Memory.Span.IndexOfAnyExcept((byte)2));
        Assert.All(Enumerable.Range(0, group.Count), i => Assert.Equal(-1, group[i].Span.IndexOfAnyExcept((byte)3)));
    }
}
