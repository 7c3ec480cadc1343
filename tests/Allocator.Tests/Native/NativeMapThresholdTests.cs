using System.Diagnostics.Tracing;
using Allocator.Tests.Diagnostics;
using Allocator.Tests.Limits;
using Measuring.Cgroups;

namespace Allocator.Tests.Native;

/// <summary>Each in a process of its own: the threshold is set once, and by that malloc behaves otherwise from then on.</summary>
public sealed unsafe class NativeMapThresholdTests
{
    private const int Megabyte = 1 << 20;
    private const long ContainerLimit = 300L * Megabyte;
    private const string Preloaded = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";

    [SkippableTheory]
    [InlineData("budget")]
    [InlineData("minimum free")]
    public void Create_LimitedInAContainer_FixesTheThresholdAndSaysSoOnce(string limit)
    {
        using MemoryCgroup group = CreateOrSkip();
        RemoteExecutor.Invoke(
            static (folder, limit) =>
            {
                TestCgroup.Enter(folder);
                int events = 0;
                using AllocatorEventListener listener = new(
                    EventLevel.Informational, EventKeywords.None,
                    written => events += written.EventName == "NativeMapThresholdSet" ? 1 : 0);
                Assert.False(Maps(megabytes: 8));
                using MemoryAllocator first = MemoryAllocator.Create(Limited(limit));
                using MemoryAllocator second = MemoryAllocator.Create(Limited(limit));
                Assert.True(Maps(megabytes: 20));
                Assert.Contains("maps from 1 MiB on", second.DescribeMemory());
                Assert.Equal(1, events);
            },
            group.Folder, limit, Clean()).Dispose();
    }

    [SkippableFact]
    public void Create_WithoutABudgetInAContainer_LeavesTheThresholdToALaterOne()
    {
        using MemoryCgroup group = CreateOrSkip();
        RemoteExecutor.Invoke(
            static folder =>
            {
                TestCgroup.Enter(folder);
                using MemoryAllocator unlimited = MemoryAllocator.Create();
                Assert.False(Maps(megabytes: 8));
                using MemoryAllocator limited = MemoryAllocator.Create(Limited("budget"));
                Assert.True(Maps(megabytes: 20));
            },
            group.Folder, Clean()).Dispose();
    }

    // What a codec frees has to go back before another job may begin.
    [SkippableFact]
    public void ReserveAsync_FirstJobWithANameInAContainer_FixesTheThreshold()
    {
        using MemoryCgroup group = CreateOrSkip();
        RemoteExecutor.Invoke(
            static folder =>
            {
                TestCgroup.Enter(folder);
                using MemoryAllocator allocator = MemoryAllocator.Create();
                allocator.TryReserve(Megabyte, out MemoryReservation? given);
                given?.Dispose();
                Assert.False(Maps(megabytes: 8));
                Assert.True(allocator.TryReserve("thumbnails", out MemoryReservation? job));
                Assert.True(Maps(megabytes: 20));
                job.Dispose();
            },
            group.Folder, Clean()).Dispose();
    }

    [SkippableTheory]
    [InlineData("MALLOC_TRIM_THRESHOLD_", "4194304")]
    [InlineData("MALLOC_MMAP_THRESHOLD_", "33554432")]
    [InlineData("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=33554432")]
    public void Create_EnvironmentNamesAThreshold_ChangesNothing(string variable, string value)
    {
        using MemoryCgroup group = CreateOrSkip();
        RemoteInvokeOptions options = Clean();
        options.StartInfo.Environment[variable] = value;
        RemoteExecutor.Invoke(
            static folder =>
            {
                TestCgroup.Enter(folder);
                bool before = Maps(megabytes: 8);
                using MemoryAllocator allocator = MemoryAllocator.Create(Limited("budget"));
                Assert.Equal(before, Maps(megabytes: 20));
                Assert.False(NativeMapThreshold.IsSet);
            },
            group.Folder, options).Dispose();
    }

    [SkippableTheory]
    [InlineData("switch")]
    [InlineData("option")]
    [InlineData("an earlier allocator's option")]
    public void Create_ForbiddenInAContainer_ChangesNothing(string way)
    {
        using MemoryCgroup group = CreateOrSkip();
        RemoteExecutor.Invoke(
            static (folder, way) =>
            {
                TestCgroup.Enter(folder);
                MemoryAllocatorOptions options = Limited("budget");
                using MemoryAllocator? earlier = way == "an earlier allocator's option"
                    ? MemoryAllocator.Create(new MemoryAllocatorOptions { SetNativeMapThreshold = false })
                    : null;
                options.SetNativeMapThreshold = way == "option" ? false : null;
                if (way == "switch")
                {
                    AppContext.SetSwitch("Allocator.SetNativeMapThreshold", isEnabled: false);
                }

                using MemoryAllocator allocator = MemoryAllocator.Create(options);
                Assert.False(Maps(megabytes: 8));
                Assert.DoesNotContain("maps from", allocator.DescribeMemory());
            },
            group.Folder, way, Clean()).Dispose();
    }

    [SkippableFact]
    public void Create_WithoutAContainer_SetsItIfTheOptionSaysSoAndOnlyThen()
    {
        Skip.IfNot(LibC.IsMallocOfGlibc(), "Only glibc has mallopt.");
        RemoteExecutor.Invoke(
            static () =>
            {
                MemoryAllocatorOptions options = Limited("budget");

                // As without a container, wherever the test runs.
                options.HonorMemoryLimit = false;
                using MemoryAllocator limited = MemoryAllocator.Create(options);
                Assert.False(Maps(megabytes: 8));
                options.SetNativeMapThreshold = true;
                using MemoryAllocator wanted = MemoryAllocator.Create(options);
                Assert.True(Maps(megabytes: 20));
            },
            Clean()).Dispose();
    }

    [SkippableFact]
    public void Create_MallocOfAnotherLibrary_ChangesNothing()
    {
        Skip.If(LibC.IsMallocOfGlibc() && !File.Exists(Preloaded), "Needs libjemalloc2, or a C library that is not glibc.");
        RemoteInvokeOptions options = Clean();
        if (LibC.IsMallocOfGlibc())
        {
            options.StartInfo.Environment["LD_PRELOAD"] = Preloaded;
        }

        RemoteExecutor.Invoke(
            static () =>
            {
                Assert.False(LibC.IsMallocOfGlibc());
                using MemoryAllocator allocator = MemoryAllocator.Create(
                    new MemoryAllocatorOptions { SetNativeMapThreshold = true, TrimNativeHeap = true });
                Assert.False(NativeMapThreshold.IsSet);
                Assert.Contains("not glibc's", allocator.DescribeMemory());
            },
            options).Dispose();
    }

    private static MemoryAllocatorOptions Limited(string limit) =>
        limit == "budget" ? new() { MemoryBudgetMegabytes = 100 } : new() { MinimumFreeMegabytes = 10 };

    // Freeing a mapped allocation has glibc serve the next of that size from its heap, unless the threshold is fixed. A mapped one says so
    // in the word before it (IS_MMAPPED of malloc.c). The second time it has to be more than what the heap has kept of the first.
    private static bool Maps(int megabytes)
    {
        NativeMemory.Free(NativeMemory.Alloc(30 * Megabyte));
        void* allocated = NativeMemory.Alloc((nuint)(megabytes * Megabyte));
        bool isMapped = (((nuint*)allocated)[-1] & 2) != 0;
        NativeMemory.Free(allocated);
        return isMapped;
    }

    private static RemoteInvokeOptions Clean()
    {
        RemoteInvokeOptions options = new();
        foreach (string name in new[] { "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES", "LD_PRELOAD" })
        {
            options.StartInfo.Environment.Remove(name);
        }

        return options;
    }

    private static MemoryCgroup CreateOrSkip()
    {
        Skip.IfNot(LibC.IsMallocOfGlibc(), "Only glibc has mallopt.");
        return TestCgroup.CreateOrSkip(ContainerLimit);
    }
}
