namespace Allocator.Tests.Native;

/// <summary>
/// The system refuses to take addresses back, as Linux does where a process has as many mappings as it may. What is kept of it is the
/// process's: each in one of its own.
/// </summary>
public unsafe partial class RefusedUnmapTests
{
    [SkippableFact]
    public void Dispose_MapEntriesExhausted_KeepsNoMemoryAndRecovers()
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
        Assert.Equal(Count / 2 * (long)Length, result.CommittedBytes);
        Assert.Equal(result.CommittedBytes, allocator.GetStatistics().CommittedBytes);
        for (int i = 0; i < Count; i++)
        {
            result.Resident += i % 2 == 0 && IsResident(addresses[i]) ? 1 : 0;
            owners[i].Dispose();
        }

        // The runtime may have mapped something of its own since where nothing was refused.
        Assert.InRange(result.Resident, 0, 4);
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

    // False for what is not mapped too.
    private static bool IsResident(nint page)
    {
        byte isResident = 0;
        return LibC.MInCore((void*)page, 4096, &isResident) == 0 && (isResident & 1) != 0;
    }

    [LibraryImport("libc", EntryPoint = "mmap")]
    private static partial nint MMap(nint address, nint length, int protection, int flags, int file, nint offset);

    [LibraryImport("libc", EntryPoint = "munmap")]
    private static partial int MUnmap(nint address, nint length);

    [LibraryImport("libc", EntryPoint = "mprotect")]
    private static partial int MProtect(nint address, nint length, int protection);

    private record struct AtTheLimit(long Refused, long CommittedBytes, int Denied, int Resident);
}
