using System.Diagnostics;

namespace Allocator.Tests.Diagnostics;

public sealed class AllocationRecordsTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("records-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void File_CleanExit_IsDeleted()
    {
        Run(static () =>
        {
            Assert.Null(AllocationRecords.CurrentPath);
            using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
            setup.Allocator.Allocate<byte>(100).Dispose();
            Assert.True(File.Exists(AllocationRecords.CurrentPath));
        });
        Assert.Empty(Directory.GetFiles(_folder));
    }

    // It has stacks, and lies in a folder that all can read.
    [SkippableFact]
    public void File_OnUnix_IsReadableOnlyByItsOwner()
    {
        Skip.IfNot(RuntimeInformation.IsOSPlatform(OSPlatform.Linux), "The tool that shows modes is Linux's.");
        Run(static () =>
        {
            using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
            setup.Allocator.Allocate<byte>(100).Dispose();
            using Process stat = Process.Start(
                new ProcessStartInfo("stat", ["-c", "%a", AllocationRecords.CurrentPath!]) { RedirectStandardOutput = true })!;
            Assert.Equal("600", stat.StandardOutput.ReadToEnd().Trim());
        });
    }

    [Fact]
    public void File_CorruptionFound_StaysBehind()
    {
        Run(static () =>
        {
            MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
            IMemoryOwner<byte> owner = allocator.Allocate<byte>(100);
            Unsafe.Add(ref MemoryMarshal.GetReference(owner.Memory.Span), 101)++;
            Assert.Throws<MemoryCorruptedException>(owner.Dispose);
        });

        AllocationRecords records = AllocationRecords.Open(Path.Combine(_folder, "x.records"));
        Assert.EndsWith(": 1 buffers, 0 dropped", records.ToString(), StringComparison.Ordinal);
        AllocationRecord record = Assert.Single(records.Records);
        Assert.Contains("is the start of a buffer of 100 bytes that was returned", record.ToString());
        Assert.Contains("It was found corrupted (Overrun) at offset 101.", record.ToString());
        Assert.Equal((CorruptionKind.Overrun, 101L), (record.Corruption, record.CorruptionOffset));
    }

    [Fact]
    public void File_AlreadyExists_IsKeptAndAnotherNameUsed()
    {
        string existing = Path.Combine(_folder, "x.records");
        File.WriteAllText(existing, "evidence");
        Run(static () =>
        {
            using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
            setup.Allocator.Allocate<byte>(100).Dispose();
            Assert.Equal("x.2.records", Path.GetFileName(AllocationRecords.CurrentPath));
        });
        Assert.Equal([existing], Directory.GetFiles(_folder));
        Assert.Equal("evidence", File.ReadAllText(existing));
    }

    [Fact]
    public void File_CannotBeCreated_RentsContinueWithoutIt()
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_RECORDS"] = Path.Combine(_folder, "missing", "x.records") } };
        RemoteExecutor.Invoke(
            static () =>
            {
                using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
                IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(100);
                GuardedSetup.Change(GuardedSetup.AddressOf(owner) + 100);
                Assert.Throws<MemoryCorruptedException>(owner.Dispose);
                Assert.Null(AllocationRecords.CurrentPath);
            },
            options).Dispose();
    }

    [Fact]
    public void File_NamedInTheConfiguration_PrecedesTheEnvironment()
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_RECORDS"] = Path.Combine(_folder, "x.records") } };
        options.RuntimeConfigurationOptions["Allocator.Records"] = Path.Combine(_folder, "configured.records");
        RemoteExecutor.Invoke(
            static () =>
            {
                using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
                setup.Allocator.Allocate<byte>(100).Dispose();
                Assert.Equal("configured.records", Path.GetFileName(AllocationRecords.CurrentPath));
            },
            options).Dispose();
    }

    [Fact]
    public void Records_MoreBuffersThanSlots_CountsTheRest() => Run(static () =>
    {
        // Keeps sixteen returned buffers.
        using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded, maximumBlocks: 4);
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, 1030).Select(_ => setup.Allocator.Allocate<byte>(10))];
        AllocationRecords full = Open();
        Assert.Equal((1024, 6L), (full.Records.Count, full.DroppedRecords));
        Assert.Null(full.Explain(GuardedSetup.AddressOf(owners[1029])));

        owners.ForEach(static owner => owner.Dispose());
        Assert.Equal(
            (1014, 10, 0),
            (Count(AllocationRecordState.Freed), Count(AllocationRecordState.Returned), Count(AllocationRecordState.Rented)));

        // What was freed first makes room first.
        using IMemoryOwner<byte> another = setup.Allocator.Allocate<byte>(10);
        AllocationRecords after = Open();
        Assert.Equal(6, after.DroppedRecords);
        Assert.Equal((1013, 1), (Count(AllocationRecordState.Freed), Count(AllocationRecordState.Rented)));

        static int Count(AllocationRecordState state) => Open().Records.Count(record => record.State == state);
    });

    [Fact]
    public void Explain_LifeOfOneBuffer_NamesEachStage() => Run(static () =>
    {
        using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(10_000);
        nint address = GuardedSetup.AddressOf(owner);

        Assert.Contains("lies at offset 9,999 inside a buffer of 10,000 bytes that is rented.", Open().Explain(address + 9_999));
        Assert.Contains("is 1 byte past the end of", Open().Explain(address + 10_000));
        Assert.Contains("is 2 bytes past the end of", Open().Explain(address + 10_001));
        Assert.Contains("is 1 byte before the start of", Open().Explain(address - 1));
        owner.Dispose();
        Assert.Contains("that was returned", Open().Explain(address));
        AllocationRecord record = Assert.Single(Open().Records);
        Assert.Equal(
            (address, 10_000L, Environment.CurrentManagedThreadId), ((nint)record.Address, record.Bytes, record.ReturningThreadId));
        Assert.InRange(record.ReturnedAt!.Value, record.AllocatedAt, DateTime.UtcNow);
        Assert.Equal(3 * 4096 + 2 * 4096, record.MappingBytes);
        Assert.Null(Open().Explain(record.MappingAddress - 1));
        Assert.Null(Open().Explain(record.MappingAddress + record.MappingBytes));
        setup.Allocator.ReleaseRetainedResources();
        Assert.Contains("whose addresses have been given back to the system since", Open().Explain(address));
    });

    [Fact]
    public void Records_ReturnedByAnotherThread_HaveBothThreads() => Run(static () =>
    {
        using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(100);
        AllocationRecord rented = Assert.Single(Open().Records);
        Assert.Equal((Environment.CurrentManagedThreadId, 0), (rented.AllocatingThreadId, rented.ReturningThreadId));

        Thread other = new(owner.Dispose);
        other.Start();
        other.Join();
        AllocationRecord returned = Assert.Single(Open().Records);
        Assert.Equal(
            (Environment.CurrentManagedThreadId, other.ManagedThreadId), (returned.AllocatingThreadId, returned.ReturningThreadId));
    });

    [Fact]
    public void Records_StackLongerThanItsField_KeepsTheInnermostFrames() => Run(static () =>
    {
        using TestSetup setup = GuardedSetup.Create(SafetyMode.Guarded);
        Deep(setup, 100);
        AllocationRecord record = Assert.Single(Open().Records);
        Assert.InRange(record.AllocationStackTrace.Length, 3000, 4056);
        Assert.Contains(nameof(Deep), record.AllocationStackTrace.Split('\n')[0]);
        Assert.Contains(nameof(Deep), record.AllocationStackTrace.Split('\n')[^1]);

        static void Deep(TestSetup setup, int depth)
        {
            if (depth > 0)
            {
                Deep(setup, depth - 1);
            }
            else
            {
                setup.Allocator.Allocate<byte>(1).Dispose();
            }
        }
    });

    [Fact]
    public void Open_NoRecords_ThrowsInvalidData()
    {
        string path = Path.Combine(_folder, "x.records");
        File.WriteAllBytes(path, []);
        Assert.Throws<InvalidDataException>(() => AllocationRecords.Open(path));
        File.WriteAllBytes(path, new byte[100_000]);
        Assert.Throws<InvalidDataException>(() => AllocationRecords.Open(path));
        File.WriteAllBytes(path, [.. "ALLOCREC"u8, 1, .. new byte[9000]]);
        Assert.Throws<InvalidDataException>(() => AllocationRecords.Open(path));
        File.WriteAllBytes(path, [.. "ALLOCREC"u8, 2, .. new byte[9_000_000]]);
        Assert.Contains("version 2", Assert.Throws<InvalidDataException>(() => AllocationRecords.Open(path)).Message);
        Assert.Throws<FileNotFoundException>(() => AllocationRecords.Open(path + "x"));
    }

    private static AllocationRecords Open() => AllocationRecords.Open(AllocationRecords.CurrentPath!);

    private void Run(Action method)
    {
        RemoteInvokeOptions options = new() { Environment = { ["ALLOCATOR_RECORDS"] = Path.Combine(_folder, "x.records") } };
        RemoteExecutor.Invoke(method, options).Dispose();
    }
}
