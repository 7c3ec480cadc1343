using System.Globalization;

namespace Allocator.Tests.Native;

/// <summary>
/// The system refuses to take addresses back, as Linux does where a process has as many mappings as it may. What is kept of it is the
/// process's: each in one of its own.
/// </summary>
public unsafe partial class RefusedUnmapTests
{
    private const int Block = TestSetup.BlockSize;

    public static TheoryData<string, string> Scenarios
    {
        get
        {
            TheoryData<string, string> data = [];
            foreach (string scenario in (string[])["oversize", "segments", "arena", "sampled", "guarded", "abandoned by a failure"])
            {
                data.Add(scenario, "one");
                data.Add(scenario, "all from there on");
            }

            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Scenarios))]
    public void Dispose_SystemRefusesTheKthUnmap_KeepsNoMemoryAndOffersItAgain(string scenario, string which) =>
        RemoteExecutor.Invoke(RunWithRefusals, scenario, which).Dispose();

    [Fact]
    public void Retry_WhileRangesAreAdded_OffersEachUntilItIsTaken() => RemoteExecutor.Invoke(static () =>
    {
        // More than the table has room for at first.
        const int Count = 2000;
        int[] offers = new int[Count + 1];
        bool added = false;
        for (int i = 0; i < Count; i++)
        {
            RefusedRanges.Add(TryAgain, i, 1);
        }

        RefusedRanges.Retry();
        RefusedRanges.Retry();
        RefusedRanges.Retry();
        RefusedRanges.Retry();

        Assert.Equal(0, RefusedRanges.Count);
        Assert.Equal(Count + 1, offers.Count(static count => count == 3));

        bool TryAgain(nint address, long length)
        {
            if (!added)
            {
                added = true;
                RefusedRanges.Add(TryAgain, Count, 1);
            }

            return ++offers[address] == 3;
        }
    }).Dispose();

    [SkippableFact]
    public void Dispose_MapEntriesExhausted_LosesNothingAndRecovers()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs vm.max_map_count.");
        RemoteInvokeOptions options = new();

        // What the runtime would map for itself meanwhile.
        options.StartInfo.Environment["DOTNET_TieredCompilation"] = "0";
        options.StartInfo.Environment["DOTNET_EnableWriteXorExecute"] = "0";
        options.StartInfo.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        options.StartInfo.Environment["DOTNET_gcConcurrent"] = "0";
        RemoteExecutor.Invoke(RunAtTheLimitOfMappings, options).Dispose();
    }

    private static void RunWithRefusals(string scenario, string which)
    {
        for (int k = 1; ; k++)
        {
            FakeMemorySource source = new() { RefusesUnmap = call => which == "one" ? call == k : call >= k };
            long before = MemoryDiagnostics.RefusedUnmaps;
            using (TestSetup setup = Create(scenario, source))
            {
                Use(scenario, setup);
                MemoryAllocatorStatistics statistics = setup.Statistics;
                Assert.Equal((0L, 0L), (statistics.RentedBytes, statistics.OutstandingAllocations));
                Assert.Equal(statistics.CommittedBytes, statistics.RetainedBytes + statistics.QuarantinedBytes);
            }

            // A request that failed has offered what was refused before it once more.
            long refused = MemoryDiagnostics.RefusedUnmaps - before;
            Assert.Equal(source.RefusedUnmaps, RefusedRanges.Count);
            Assert.InRange(source.RefusedUnmaps, which == "one" ? 0 : refused, refused);

            // The next trim, of any allocator.
            source.RefusesUnmap = static _ => false;
            using TestSetup other = new();
            other.Allocator.ReleaseRetainedResources();
            Assert.Equal((0, 0, 0, 0), (RefusedRanges.Count, source.RefusedUnmaps, source.LiveAllocations, source.LiveReservations));
            Assert.Equal(0, source.LiveBytes);
            if (refused == 0)
            {
                Assert.InRange(k, 2, 1000);
                return;
            }
        }
    }

    private static TestSetup Create(string scenario, FakeMemorySource source) => scenario switch
    {
        "sampled" => new(16, new MemoryAllocatorOptions { Safety = SafetyMode.Sampled, SafetySampleInterval = 1 }, source),
        "guarded" => new(16, new MemoryAllocatorOptions { Safety = SafetyMode.Guarded }, source),
        "oversize" or "segments" => new(0, new MemoryAllocatorOptions { Safety = SafetyMode.Standard }, source),
        _ => new(16, new MemoryAllocatorOptions { Safety = SafetyMode.Standard }, source),
    };

    private static void Use(string scenario, TestSetup setup)
    {
        for (int i = 0; i < 3; i++)
        {
            using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(scenario == "segments" ? 40 * Block : 5 * Block);
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(20 * Block);
        }

        if (scenario == "abandoned by a failure")
        {
            setup.Source.Restart();
            setup.Source.RefuseFrom = 3;
            Assert.Throws<OutOfMemoryException>(() => setup.Allocator.AllocateGroup<byte>(60 * Block));
            setup.Source.Restart();
        }
    }

    // At the limit the runtime cannot map anything either, so all code is there before: the first run ends with a refusal too.
    private static void RunAtTheLimitOfMappings()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MaximumPoolSizeMegabytes = 8,
            HugePages = HugePages.Off,
            Safety = SafetyMode.Standard,
            AllocationLimitMegabytes = int.MaxValue,
        });
        Assert.Throws<OutOfMemoryException>(() => allocator.AllocateGroup<byte>(1L << 47, 1, AllocationOptions.Contiguous));
        RefusedRanges.Add(static (_, _) => true, 0, 0);
        Use(allocator, mappings: 100);
        QueuedWork.Collect();

        AtTheLimit result = Use(allocator, mappings: 200_000);
        Assert.InRange(result.Refused, 1, long.MaxValue);
    }

    private static AtTheLimit Use(MemoryAllocator allocator, int mappings)
    {
        const int Count = 64;
        const int Length = 9 << 20;
        IMemoryOwner<byte>[] owners = new IMemoryOwner<byte>[Count];
        nint[] addresses = new nint[Count];
        for (int i = 0; i < Count; i++)
        {
            // Side by side, and one mapping to the kernel.
            owners[i] = allocator.Allocate<byte>(Length);
            owners[i].Memory.Span[5] = 1;
            addresses[i] = GuardedSetup.AddressOf(owners[i]);
        }

        AtTheLimit result = default;
        nint shortage = TakeMappings(mappings);
        for (int i = 0; i < Count; i += 2)
        {
            owners[i].Dispose();
        }

        result.Refused = MemoryDiagnostics.RefusedUnmaps;
        result.CommittedBytes = allocator.GetStatistics().CommittedBytes;
        for (int i = 0; i < 3; i++)
        {
            result.Denied += TryRent(allocator, 3 << 20) ? 0 : 1;
            result.Denied += TryRent(allocator, Length) ? 0 : 1;
        }

        MUnmap(shortage, (nint)mappings * 2 * 4096);
        Assert.True(TryRent(allocator, 3 << 20));
        Assert.True(TryRent(allocator, Length));
        allocator.ReleaseRetainedResources();

        Assert.Equal(
            (0, Count / 2 * (long)Length, result.CommittedBytes),
            (RefusedRanges.Count, result.CommittedBytes, allocator.GetStatistics().CommittedBytes));
        List<(long Start, long End)> mapped = Mapped();
        int stillMapped = 0;
        for (int i = 0; i < Count; i++)
        {
            stillMapped += i % 2 == 0 && mapped.Any(range => range.Start <= addresses[i] && range.End > addresses[i]) ? 1 : 0;
            owners[i].Dispose();
        }

        // The runtime may have mapped something of its own there since.
        Assert.InRange(stillMapped, 0, 4);

        Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
        Console.WriteLine(result);
        return result;
    }

    private static bool TryRent(MemoryAllocator allocator, int length)
    {
        try
        {
            allocator.Allocate<byte>(length).Dispose();
            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }

    // As many as there may be at most: every other page of a range has another protection.
    private static nint TakeMappings(int count)
    {
        nint address = MMap(0, (nint)count * 2 * 4096, 0, 0x02 | 0x20 | 0x4000, -1, 0);
        for (nint i = 1; i < count && MProtect(address + i * 2 * 4096, 4096, 1) == 0; i++)
        {
        }

        return address;
    }

    private static List<(long Start, long End)> Mapped() => [.. File.ReadLines("/proc/self/maps").Select(static line =>
    {
        string[] ends = line.Split(' ')[0].Split('-');
        return (long.Parse(ends[0], NumberStyles.HexNumber), long.Parse(ends[1], NumberStyles.HexNumber));
    })];

    [LibraryImport("libc", EntryPoint = "mmap")]
    private static partial nint MMap(nint address, nint length, int protection, int flags, int file, nint offset);

    [LibraryImport("libc", EntryPoint = "munmap")]
    private static partial int MUnmap(nint address, nint length);

    [LibraryImport("libc", EntryPoint = "mprotect")]
    private static partial int MProtect(nint address, nint length, int protection);

    private record struct AtTheLimit(long Refused, long CommittedBytes, int Denied);
}
