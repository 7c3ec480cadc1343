namespace Measuring.Tests.Cgroups;

public sealed class MemoryCgroupTests
{
    private const long Limit = 40 << 20;

    // A shell whose one variable doubles until it is as long as asked for.
    private const string Fill = """x=0123456789abcdef; while [ ${#x} -lt $0 ]; do x=$x$x; done; echo ${#x}""";

    [SkippableFact]
    public void Wrap_ProgramAboveTheLimit_IsKilledAndCounted()
    {
        using MemoryCgroup group = CreateOrSkip(Limit);

        int exitCode = Run(group, 256 << 20);

        Assert.Equal(MemoryCgroup.KilledExitCode, exitCode);
        Assert.Equal(1, group.Kills);
        Assert.InRange(group.PeakBytes ?? Limit, Limit - (4 << 20), Limit);
    }

    [SkippableFact]
    public void Wrap_ProgramBelowTheLimit_RunsAndIsCharged()
    {
        using MemoryCgroup group = CreateOrSkip(Limit);

        int exitCode = Run(group, 4 << 20);

        Assert.Equal(0, exitCode);
        Assert.Equal(0, group.Kills);
        Assert.InRange(group.PeakBytes ?? (4 << 20), 4 << 20, Limit);
        Assert.True(group.PageFaults > (4 << 20) / Environment.SystemPageSize);
    }

    [SkippableFact]
    public void Wrap_NoLimit_OnlyCounts()
    {
        using MemoryCgroup group = CreateOrSkip(null);

        int exitCode = Run(group, 64 << 20);

        Assert.Equal(0, exitCode);
        Assert.InRange(group.PeakBytes ?? (64 << 20), 64 << 20, long.MaxValue);
    }

    [SkippableFact]
    public void Dispose_WithAProcessInside_EndsItAndRemovesTheGroup()
    {
        MemoryCgroup group = CreateOrSkip(Limit);
        ProcessStartInfo start = new("sleep") { ArgumentList = { "1000" } };
        group.Wrap(start);
        using Process child = Process.Start(start)!;
        SpinUntilInside(group);

        group.Dispose();

        Assert.True(child.WaitForExit(TimeSpan.FromSeconds(60)));
        Assert.False(Directory.Exists(group.Folder));
    }

    [Fact]
    public void Create_Version1_WritesTheLimitOfMemoryAndSwapTogether()
    {
        using TemporaryFolder folder = new();

        // In a folder that is no cgroup no files appear by themselves, so there is no swap to limit.
        MemoryCgroup group = MemoryCgroup.Create(new CgroupHierarchy(folder.Path, folder.Path, CgroupFiles.Version1), Limit);

        Assert.Equal(Limit.ToString(), File.ReadAllText(Path.Combine(group.Folder, "memory.limit_in_bytes")));
        Assert.Equal(folder.Path, Path.GetDirectoryName(group.Folder));
    }

    [Fact]
    public void Create_Version2WhoseGroupCannotHandMemoryDown_StandsBesideIt()
    {
        using TemporaryFolder folder = new();
        File.WriteAllText(folder.At("cgroup.subtree_control"), "cpu memory\n");
        string own = Path.GetDirectoryName(folder.At("session/cgroup.procs"))!;

        MemoryCgroup group = MemoryCgroup.Create(new CgroupHierarchy(own, folder.Path, CgroupFiles.Version2), Limit);

        Assert.Equal(folder.Path, Path.GetDirectoryName(group.Folder));
        Assert.Equal(Limit.ToString(), File.ReadAllText(Path.Combine(group.Folder, "memory.max")));
    }

    [Fact]
    public void Create_Version2WithoutTheController_SaysWhy()
    {
        using TemporaryFolder folder = new();

        CgroupUnavailableException exception = Assert.Throws<CgroupUnavailableException>(
            () => MemoryCgroup.Create(new CgroupHierarchy(folder.Path, folder.Path, CgroupFiles.Version2), Limit));

        Assert.Contains(folder.Path, exception.Message, StringComparison.Ordinal);
        Assert.Contains("memory controller", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Kills_Version2_ReadsTheEvents()
    {
        using TemporaryFolder folder = new();
        File.WriteAllText(folder.At("cgroup.subtree_control"), "memory");
        MemoryCgroup group = MemoryCgroup.Create(new CgroupHierarchy(folder.Path, folder.Path, CgroupFiles.Version2), null);
        File.WriteAllText(Path.Combine(group.Folder, "memory.events"), "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
        File.WriteAllText(Path.Combine(group.Folder, "memory.peak"), "12345\n");
        File.WriteAllText(Path.Combine(group.Folder, "memory.current"), "345\n");
        File.WriteAllText(Path.Combine(group.Folder, "memory.stat"), "anon 200\nfile 100\npgfault 77\n");

        Assert.Equal((2, 12345, 345, 77), (group.Kills, group.PeakBytes, group.UsedBytes, group.PageFaults));
    }

    internal static MemoryCgroup CreateOrSkip(long? limit)
    {
        try
        {
            return MemoryCgroup.Create(limit);
        }
        catch (CgroupUnavailableException exception)
        {
            throw new SkipException(exception.Message);
        }
    }

    private static int Run(MemoryCgroup group, long characters)
    {
        ProcessStartInfo start = new("sh") { ArgumentList = { "-c", Fill, characters.ToString() }, RedirectStandardOutput = true };
        group.Wrap(start);
        using Process child = Process.Start(start)!;
        _ = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        return child.ExitCode;
    }

    private static void SpinUntilInside(MemoryCgroup group) => Assert.True(SpinWait.SpinUntil(
        () => File.ReadAllText(Path.Combine(group.Folder, "cgroup.procs")).Length > 0, TimeSpan.FromMinutes(1)));
}
