namespace Measuring.Tests.Cgroups;

public sealed class CgroupHierarchyTests
{
    private const string Version1Mount = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
    private const string Version2Mount = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    [Fact]
    public void Find_Version1_GivesTheFolderOfTheMemoryController()
    {
        CgroupHierarchy? found = CgroupHierarchy.Find("5:devices:/d\n4:memory:/services/web\n0::/other\n", Version1Mount);

        Assert.Equal(new CgroupHierarchy("/sys/fs/cgroup/memory/services/web", "/sys/fs/cgroup/memory", CgroupFiles.Version1), found);
    }

    [Fact]
    public void Find_ControllersMountedTogether_KnowsMemoryAmongThem()
    {
        CgroupHierarchy? found = CgroupHierarchy.Find("4:cpu,memory:/a\n", "1 2 0:3 / /cgroup/both rw - cgroup cgroup rw,cpu,memory\n");

        Assert.Equal("/cgroup/both/a", found?.Folder);
    }

    [Fact]
    public void Find_Version2Alone_GivesItsFolder()
    {
        CgroupHierarchy? found = CgroupHierarchy.Find("0::/user.slice/session-1.scope\n", Version2Mount);

        Assert.Equal(new CgroupHierarchy("/sys/fs/cgroup/user.slice/session-1.scope", "/sys/fs/cgroup", CgroupFiles.Version2), found);
    }

    [Fact]
    public void Find_BothMounted_TakesTheOneThatHasTheController()
    {
        CgroupHierarchy? found = CgroupHierarchy.Find("4:memory:/a\n0::/b\n", Version2Mount + Version1Mount);

        Assert.Equal("/sys/fs/cgroup/memory/a", found?.Folder);
    }

    [Fact]
    public void Find_ContainerWithTheHostsPaths_ReturnsTheExistingFolder()
    {
        CgroupHierarchy? found = CgroupHierarchy.Find(
            "4:memory:/docker/0123\n", "35 31 0:32 /docker/0123 /sys/fs/cgroup/memory ro master:11 - cgroup cgroup rw,memory\n");

        Assert.Equal("/sys/fs/cgroup/memory", found?.Folder);
    }

    [Theory]
    [InlineData("", Version1Mount)]
    [InlineData("4:memory:/a\n", "")]
    [InlineData("4:cpu:/a\n", Version1Mount)]
    [InlineData("4:memory:/a\n", "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime\n")]
    public void Find_NoMemoryController_GivesNothing(string membership, string mounts)
        => Assert.Null(CgroupHierarchy.Find(membership, mounts));
}
