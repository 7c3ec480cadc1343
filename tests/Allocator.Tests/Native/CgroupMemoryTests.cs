using System;
using System.Collections.Generic;
using Allocator.Native;
using Xunit;

namespace Allocator.Tests.Native;

public class CgroupMemoryTests
{
    [Fact]
    public void TryRead_Version2_GivesUsageWithoutIdleFilePages() =>
        Assert.Equal(
            new MemoryUsage(300, 500),
            CgroupMemory.TryRead(Files(
                ("/proc/self/cgroup", "0::/app\n"),
                ("/sys/fs/cgroup/app/memory.max", "500\n"),
                ("/sys/fs/cgroup/app/memory.current", "400\n"),
                ("/sys/fs/cgroup/app/memory.stat", "anon 200\ninactive_file 100\nactive_file 50\n"))));

    [Fact]
    public void TryRead_Version2LimitOnAnAncestor_IsTheOneThatBinds() =>
        Assert.Equal(
            new MemoryUsage(950, 1000),
            CgroupMemory.TryRead(Files(
                ("/proc/self/cgroup", "0::/pod/app\n"),
                ("/sys/fs/cgroup/pod/app/memory.max", "max\n"),
                ("/sys/fs/cgroup/pod/app/memory.current", "10\n"),
                ("/sys/fs/cgroup/pod/memory.max", "1000\n"),
                ("/sys/fs/cgroup/pod/memory.current", "950\n"))));

    [Fact]
    public void TryRead_PathOfTheHost_FallsBackToTheRootOfTheMount() =>
        Assert.Equal(
            new MemoryUsage(40, 500),
            CgroupMemory.TryRead(Files(
                ("/proc/self/cgroup", "0::/kubepods/pod1/abc\n"),
                ("/sys/fs/cgroup/memory.max", "500"),
                ("/sys/fs/cgroup/memory.current", "40"))));

    [Fact]
    public void TryRead_Version1_IsReadFromItsOwnHierarchy() =>
        Assert.Equal(
            new MemoryUsage(700, 1000),
            CgroupMemory.TryRead(Files(
                ("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/docker/abc\n0::/\n"),
                ("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "1000"),
                ("/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "800"),
                ("/sys/fs/cgroup/memory/docker/abc/memory.stat", "cache 1\ntotal_inactive_file 100"),
                ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
                ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "900"))));

    [Theory]
    [InlineData("max")]
    [InlineData("9223372036854771712")]
    [InlineData("0")]
    [InlineData("nonsense")]
    [InlineData("")]
    public void TryRead_NoUsableLimit_GivesNothing(string limit) =>
        Assert.Null(CgroupMemory.TryRead(Files(
            ("/proc/self/cgroup", "0::/\n"), ("/sys/fs/cgroup/memory.max", limit), ("/sys/fs/cgroup/memory.current", "40"))));

    [Fact]
    public void TryRead_NoFiles_GivesNothing() => Assert.Null(CgroupMemory.TryRead(Files()));

    internal static Func<string, string?> Files(params (string Path, string Text)[] files)
    {
        Dictionary<string, string> byPath = [];
        foreach ((string path, string text) in files)
        {
            byPath[path] = text;
        }

        return path => byPath.TryGetValue(path, out string? text) ? text : null;
    }
}
