using System.Collections.Concurrent;
using Allocator.Allocators;
using ContractSuite;

namespace Allocator.Tests.Allocators;

/// <summary>What is behind a buffer, where code for SIMD reads. A fault ends the process: each in one of its own.</summary>
public unsafe partial class OverreadTests
{
    public static TheoryData<string> Cases => [.. OverreadContract.Cases.Keys];

    public static TheoryData<NativeMemoryKind, SafetyMode> KindsAndModes
    {
        get
        {
            TheoryData<NativeMemoryKind, SafetyMode> data = [];
            foreach (NativeMemoryKind kind in Enum.GetValues<NativeMemoryKind>())
            {
                data.Add(kind, SafetyMode.Standard);
                data.Add(kind, SafetyMode.Sampled);
            }

            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void Read_64BytesBehindABufferOfMappedMemory_Succeeds(string name) =>
        RemoteExecutor.Invoke(
            static name => OverreadContract.Read(NativeMemoryKind.Virtual, SafetyMode.Standard, name),
            name,
            new RemoteInvokeOptions { Environment = { ["DOTNET_DbgEnableMiniDump"] = "0" } }).Dispose();

    [Theory]
    [MemberData(nameof(KindsAndModes))]
    public void Read_64BytesBehindAnyBuffer_Succeeds(NativeMemoryKind kind, SafetyMode mode) =>
        RemoteExecutor.Invoke(
            static (kind, mode) =>
                OverreadContract.ReadAll(
                    Enum.Parse<NativeMemoryKind>(kind),
                    Enum.Parse<SafetyMode>(mode)),
            kind.ToString(),
            mode.ToString(),
            new RemoteInvokeOptions { Environment = { ["DOTNET_DbgEnableMiniDump"] = "0" } }).Dispose();

    // A heap may have something readable there by chance: glibc knows how much it has given.
    [SkippableTheory]
    [InlineData(NativeMemoryKind.Heap, 64)]
    [InlineData(NativeMemoryKind.Heap, 4096)]
    [InlineData(NativeMemoryKind.HGlobal, 64)]
    [InlineData(NativeMemoryKind.CoTaskMem, 64)]
    public void TryAllocate_FromAHeap_IncludesTheTolerance(NativeMemoryKind kind, int tolerance)
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs malloc_usable_size.");
        NativeMemorySource source = NativeMemorySource.Create(kind, HugePages.Off, tolerance);
        foreach (int length in (int[])[1, 64, 4096, 100_000, 4 << 20])
        {
            nint address = source.TryAllocate(length, NativeMemorySource.MinimumAlignment, out _);

            // Just below lies what the heap gave, where it knows no alignment.
            nint raw = source is HeapMemorySource { AlignsHere: true } ? ((nint*)address)[-1] : address;
            Assert.InRange((long)UsableSize((void*)raw) - (address - raw), length + tolerance, long.MaxValue);
            source.Free(address, length);
        }
    }

    [Theory]
    [InlineData(NativeMemoryKind.Virtual)]
    [InlineData(NativeMemoryKind.Heap)]
    public void Statistics_WithAReadableTail_DoNotCountIt(NativeMemoryKind kind)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            NativeMemory = kind,
            MaximumPoolSizeMegabytes = 0,
            MemoryBudgetMegabytes = 8,
            OverreadToleranceInBytes = 4096,
            Safety = SafetyMode.Standard,
        });
        using IMemoryOwner<byte> all = allocator.Allocate<byte>(8 << 20);

        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        Assert.Equal((8 << 20, 8 << 20, 8 << 20), (statistics.CommittedBytes, statistics.RentedBytes, statistics.BudgetUsedBytes));
    }

    [Theory]
    [InlineData(SafetyMode.Standard, null, 64)]
    [InlineData(SafetyMode.Standard, 0, 64)]
    [InlineData(SafetyMode.Standard, 100, 100)]
    [InlineData(SafetyMode.Sampled, null, 64)]
    [InlineData(SafetyMode.Sampled, 0, 0)]
    [InlineData(SafetyMode.Guarded, null, 0)]
    [InlineData(SafetyMode.Guarded, 4096, 4096)]
    public void Settings_ModeAndOption_DecideTheTolerance(SafetyMode mode, int? option, int expected)
    {
        AllocatorSettings settings = new(new MemoryAllocatorOptions { Safety = mode, OverreadToleranceInBytes = option });
        Assert.Equal(
            (expected, expected, expected),
            (settings.OverreadToleranceInBytes, settings.Source.OverreadToleranceInBytes, settings.SmallSource.OverreadToleranceInBytes));
    }

    [Theory]
    [InlineData(SafetyMode.Sampled, null)]
    [InlineData(SafetyMode.Guarded, 64)]
    public void Dispose_TailWasWritten_IsReported(SafetyMode mode, int? tolerance) => RemoteExecutor.Invoke(
        static (mode, tolerance) =>
        {
            using MemoryAllocator allocator = Create(Enum.Parse<SafetyMode>(mode), tolerance.Length == 0 ? null : int.Parse(tolerance));
            using BlockingCollection<CorruptionEventArgs> reports = [];
            MemoryDiagnostics.CorruptionFound += (_, report) => reports.Add(report);
            foreach (int offset in (int[])[0, 63])
            {
                IMemoryOwner<byte> owner = allocator.Allocate<byte>(4 << 20);
                GuardedSetup.Change(GuardedSetup.AddressOf(owner) + (4 << 20) + offset);
                Exception? thrown = Record.Exception(owner.Dispose);
                Assert.Equal(mode == nameof(SafetyMode.Guarded), thrown is MemoryCorruptedException);
                CorruptionEventArgs report = reports.Take();
                Assert.Equal((CorruptionKind.Overrun, (4 << 20) + offset), (report.Kind, report.Offset));
            }
        },
        mode.ToString(),
        tolerance?.ToString() ?? "").Dispose();

    [Fact]
    public void Read_OneByteBehindAGuardedBuffer_Faults()
    {
        FaultReport report = FaultingChild.Run(
            static _ =>
            {
                using MemoryAllocator allocator = Create(SafetyMode.Guarded, tolerance: null);
                using IMemoryOwner<byte> owner = allocator.Allocate<byte>(4 << 20);
                nint address = GuardedSetup.AddressOf(owner) + (4 << 20);
                FaultingChild.Announce(address);
                Console.Error.Write(*(byte*)address);
            },
            "");

        Assert.Contains("is 1 byte past the end of a buffer of 4,194,304 bytes that is rented.", report.Explanation);
    }

    [Theory]
    [InlineData("Sampled", "", false)]
    [InlineData("Guarded", "64", true)]
    public void Read_BehindTheToleranceOfAWatchedBuffer_Faults(string mode, string tolerance, bool isRecorded)
    {
        FaultReport report = FaultingChild.Run(
            static setup =>
            {
                string[] parts = setup.Split(',');
                using MemoryAllocator allocator = Create(Enum.Parse<SafetyMode>(parts[0]), parts[1].Length == 0
                    ? null
                    : int.Parse(parts[1]));
                using IMemoryOwner<byte> owner = allocator.Allocate<byte>(4 << 20);
                nint address = GuardedSetup.AddressOf(owner) + (4 << 20);
                Console.Error.Write(((byte*)address)[63]);
                FaultingChild.Announce(address + 64);
                Console.Error.Write(((byte*)address)[64]);
            },
            $"{mode},{tolerance}",
            isRecorded: isRecorded);

        const string Expected = "is 65 bytes past the end of a buffer of 4,194,304 bytes that is rented.";
        Assert.Equal(isRecorded, report.Records is not null && report.Explanation.Contains(Expected, StringComparison.Ordinal));
    }

    // What was read is no longer "never touched": it still has to be zero.
    [Fact]
    public void Allocate_CleanAfterItsBeginningWasRead_IsZero() =>
        RemoteExecutor.Invoke(
            static () =>
            {
                using MemoryAllocator allocator = MemoryAllocator.Create(
                    new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 16, Safety = SafetyMode.Standard });
                for (int round = 0; round < 2; round++)
                {
                    using IMemoryOwner<byte> first = allocator.Allocate<byte>(4 << 20);
                    _ = Volatile.Read(ref *(byte*)(GuardedSetup.AddressOf(first) + (4 << 20)));
                    using (IMemoryOwner<byte> second = allocator.Allocate<byte>(4 << 20, AllocationOptions.Clean))
                    {
                        Assert.Equal(-1, second.Memory.Span.IndexOfAnyExcept((byte)0));
                        second.Memory.Span.Fill(1);
                    }

                    allocator.ReleaseRetainedResources();
                }
            },
            new RemoteInvokeOptions { Environment = { ["DOTNET_DbgEnableMiniDump"] = "0" } }).Dispose();

    private static MemoryAllocator Create(SafetyMode mode, int? tolerance) =>
        MemoryAllocator.Create(
            new MemoryAllocatorOptions { Safety = mode, SafetySampleInterval = 1, OverreadToleranceInBytes = tolerance });

    [LibraryImport("libc", EntryPoint = "malloc_usable_size")]
    private static partial nuint UsableSize(void* address);
}
