using System.Globalization;

namespace Measuring.Cgroups;

/// <summary>Reads what is charged to a memory cgroup. Safe for concurrent callers; every property reads the kernel's files anew.</summary>
public sealed class CgroupMemory
{
    // Version 1 writes this where there is no limit: the largest number of whole pages.
    private const long Unlimited = long.MaxValue / 2;

    private readonly string _folder;
    private readonly CgroupFiles _files;

    internal CgroupMemory(string folder, CgroupFiles files)
    {
        _folder = folder;
        _files = files;
    }

    /// <summary>
    /// Gets what is charged now, in bytes: memory of the group's processes, and cached files. 0 where the group is gone.
    /// </summary>
    public long UsedBytes => ReadNumber(_files.Usage) ?? 0;

    /// <summary>Gets the limit in bytes; null where there is none.</summary>
    public long? LimitBytes => ReadNumber(_files.Limit) is { } limit && limit < Unlimited ? limit : null;

    /// <summary>Gets what is charged without what the kernel drops before it kills: cached files go, shared memory stays.</summary>
    public long UnreclaimableBytes
    {
        get
        {
            IReadOnlyDictionary<string, long> kinds = ReadKinds();
            long files = kinds.GetValueOrDefault(_files.CachedFiles) - kinds.GetValueOrDefault(_files.SharedMemory);
            return Math.Max(0, UsedBytes - Math.Max(0, files));
        }
    }

    /// <summary>Returns the group that this process is in, or null where memory is under no control.</summary>
    public static CgroupMemory? OfThisProcess()
        => OperatingSystem.IsLinux()
            && CgroupHierarchy.Find(File.ReadAllText("/proc/self/cgroup"), File.ReadAllText("/proc/self/mountinfo")) is { } own
            ? new CgroupMemory(own.Folder, own.Files)
            : null;

    /// <summary>Returns all of <c>memory.stat</c>: bytes and counts by the kernel's names. Empty where the group is gone.</summary>
    public IReadOnlyDictionary<string, long> ReadKinds()
    {
        Dictionary<string, long> kinds = new(StringComparer.Ordinal);
        foreach (string line in ReadLines("memory.stat"))
        {
            if (line.IndexOf(' ', StringComparison.Ordinal) is > 0 and var blank
                && long.TryParse(line.AsSpan(blank + 1), NumberStyles.None, CultureInfo.InvariantCulture, out long value))
            {
                kinds[line[..blank]] = value;
            }
        }

        return kinds;
    }

    // "max" stands for no limit in version 2.
    private long? ReadNumber(string file)
        => ReadLines(file) is [{ } line, ..]
            && long.TryParse(line, NumberStyles.None, CultureInfo.InvariantCulture, out long value) ? value : null;

    private string[] ReadLines(string file)
    {
        try
        {
            return File.ReadAllLines(Path.Combine(_folder, file));
        }
        catch (IOException)
        {
            return [];
        }
    }
}
