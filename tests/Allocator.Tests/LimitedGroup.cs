using System.Globalization;

namespace Allocator.Tests;

/// <summary>
/// A control group of its own below that of the process, with a limit that the kernel enforces. Needs root, or a delegated group.
/// </summary>
internal sealed class LimitedGroup : IDisposable
{
    private readonly string _parent;
    private readonly string _limitFile;

    private LimitedGroup(string parent, string limitFile)
    {
        _parent = parent;
        _limitFile = limitFile;
        Folder = Path.Combine(parent, $"allocator-test-{Environment.ProcessId}");
    }

    public string Folder { get; }

    public long LimitInBytes
    {
        // The kernel rounds to whole pages.
        get => long.Parse(File.ReadAllText(Path.Combine(Folder, _limitFile)), CultureInfo.InvariantCulture);
        set => File.WriteAllText(Path.Combine(Folder, _limitFile), value.ToString(CultureInfo.InvariantCulture));
    }

    /// <summary>Makes one, or says why there can be none.</summary>
    public static LimitedGroup? TryCreate(out string reason)
    {
        reason = "Control groups are Linux's.";
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        string[] memberships = File.ReadAllLines("/proc/self/cgroup");
        string? version1 = memberships.Select(static line => line.Split(':', 3))
            .FirstOrDefault(static parts => parts[1].Split(',').Contains("memory"))?[2];
        string version2 = memberships.Select(static line => line.Split(':', 3)).FirstOrDefault(static parts => parts[0] == "0")?[2] ?? "/";
        LimitedGroup group = version1 is not null
            ? new("/sys/fs/cgroup/memory" + version1.TrimEnd('/'), "memory.limit_in_bytes")
            : new("/sys/fs/cgroup" + version2.TrimEnd('/'), "memory.max");
        try
        {
            Directory.CreateDirectory(group.Folder);
            if (File.Exists(Path.Combine(group.Folder, group._limitFile)))
            {
                return group;
            }

            group.Dispose();
            reason = "The group of this process does not hand memory control on to groups below it.";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            reason = $"No control group can be made here: {e.Message}";
        }

        return null;
    }

    /// <summary>Moves this process into the group. What it has used so far stays with the former group.</summary>
    public void Enter() => Move(Folder);

    public void Dispose()
    {
        if (Directory.Exists(Folder))
        {
            Move(_parent);
            Directory.Delete(Folder);
        }
    }

    private static void Move(string folder) =>
        File.WriteAllText(Path.Combine(folder, "cgroup.procs"), Environment.ProcessId.ToString(CultureInfo.InvariantCulture));
}
