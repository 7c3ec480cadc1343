using System.Globalization;
using System.Text.RegularExpressions;
using Measuring.Cgroups;

namespace Allocator.Tests.Limits;

/// <summary>
/// A load that is more than the process may have: with a budget it comes to its end, and without one the same load ends the process.
/// </summary>
public sealed partial class RealLimitTests
{
    // The pictures of the budget, and what a thread, the collector and compiled code take meanwhile.
    private const long CgroupLimit = (Burst.BudgetMegabytes + 128) << 20;

    // Beyond what the process has already: reserved for the pool, mapped beside it, and the stacks of new threads.
    private const long AddressSpace = ((2 * Burst.BudgetMegabytes) + 512) << 20;

    // RLIMIT_AS
    private const int AddressSpaceResource = 9;

    [SkippableFact]
    public void Cgroup_LoadWithABudget_Completes()
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(CgroupLimit);

        Start(RunInCgroup, group.Folder, hasBudget: true).Dispose();

        Assert.Equal(0, group.Kills);
        Assert.InRange(group.PeakBytes ?? CgroupLimit, Burst.BudgetMegabytes << 19, CgroupLimit);
    }

    [SkippableFact]
    public void Cgroup_SameLoadWithoutABudgetAndLimitNotHonored_IsKilled()
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(CgroupLimit);

        Start(RunInCgroup, group.Folder, hasBudget: false, new RemoteInvokeOptions { ExpectedExitCode = MemoryCgroup.KilledExitCode })
            .Dispose();

        Assert.Equal(1, group.Kills);
    }

    [SkippableFact]
    public void Cgroup_SameLoadByDefault_IsRefusedAndNotKilled()
    {
        using MemoryCgroup group = TestCgroup.CreateOrSkip(CgroupLimit);

        Start(RunByDefault, group.Folder, hasBudget: false).Dispose();

        Assert.Equal(0, group.Kills);
    }

    [SkippableFact]
    public void AddressSpace_LoadWithABudget_Completes()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's limit of the address space.");

        Start(RunInAddressSpace, "", hasBudget: true).Dispose();
    }

    [SkippableFact]
    public void AddressSpace_SameLoadWithoutABudget_EndsTheProcess()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's limit of the address space.");

        RemoteInvokeHandle child = Start(RunInAddressSpace, "", hasBudget: false);

        RemoteExecutionException exception = Assert.Throws<RemoteExecutionException>(child.Dispose);

        // Where not even the exception finds memory, the runtime ends the process by a signal.
        Assert.True(Regex.IsMatch(exception.Message, "OutOfMemoryException|exit code 13[0-9]"), exception.Message);
    }

    private static RemoteInvokeHandle Start(
        Func<string, string, Task> method, string folder, bool hasBudget, RemoteInvokeOptions? options = null)
    {
        options ??= new RemoteInvokeOptions();

        // .NET reserves 256 GB for its heap unless told that it will not need them, and malloc 64 MB a thread.
        options.StartInfo.Environment["DOTNET_GCHeapHardLimit"] = (96 << 20).ToString("x", CultureInfo.InvariantCulture);
        options.StartInfo.Environment["MALLOC_ARENA_MAX"] = "1";
        options.StartInfo.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        options.StartInfo.Environment.Remove("ALLOCATOR_SAFETY");
        return RemoteExecutor.Invoke(method, folder, hasBudget.ToString(), options);
    }

    private static Task RunInCgroup(string folder, string hasBudget)
    {
        TestCgroup.Enter(folder);
        return Burst.RunAsync(bool.Parse(hasBudget));
    }

    // Pictures that are never finished: the container is full at some time.
    private static Task RunByDefault(string folder, string hasBudget)
    {
        TestCgroup.Enter(folder);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        List<PixelBuffer<int>> held = [];
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(void () =>
        {
            while (true)
            {
                PixelBuffer<int> picture = allocator.AllocatePixels<int>(1448, 1448);
                held.Add(picture);
                for (int y = 0; y < picture.Height; y++)
                {
                    picture.DangerousGetRowSpan(y).Fill(y);
                }
            }
        });
        Assert.Equal(CgroupLimit, failure.LimitBytes);

        // Nearly all of it was used, and all of it can be used again.
        Assert.InRange(held.Count * 8L << 20, CgroupLimit / 2, CgroupLimit);
        held.ForEach(static picture => picture.Dispose());
        allocator.AllocatePixels<int>(1448, 1448).Dispose();
        Assert.False(bool.Parse(hasBudget));
        return Task.CompletedTask;
    }

    // What the shell's "ulimit -v" does, from the inside: how much address space .NET itself takes differs from version to version.
    private static Task RunInAddressSpace(string folder, string hasBudget)
    {
        string size = File.ReadLines("/proc/self/status").First(static line => line.StartsWith("VmSize:", StringComparison.Ordinal));
        long bytes = (
            long.Parse(size.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) * 1024) + AddressSpace;
        Assert.Equal(0, SetLimit(AddressSpaceResource, [(nuint)bytes, (nuint)bytes]));
        return Burst.RunAsync(bool.Parse(hasBudget));
    }

    [LibraryImport("libc", EntryPoint = "setrlimit")]
    private static partial int SetLimit(int resource, [In] nuint[] softAndHard);
}
