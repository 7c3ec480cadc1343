namespace Measuring.Cgroups;

/// <summary>Where the memory cgroup of a process stands in the file system.</summary>
/// <param name="Folder">The folder of the group that the process is in.</param>
/// <param name="MountPoint">Where the hierarchy begins.</param>
/// <param name="Files">The names of its files.</param>
internal sealed record CgroupHierarchy(string Folder, string MountPoint, CgroupFiles Files)
{
    /// <summary>
    /// Finds it from the contents of <c>/proc/self/cgroup</c> and <c>/proc/self/mountinfo</c>, or returns null where memory is under no
    /// control. Version 1 goes first: where both are mounted, the controller belongs to it.
    /// </summary>
    public static CgroupHierarchy? Find(string membership, string mounts)
    {
        List<string[]> groups = [.. Lines(membership).Select(line => line.Split(':', 3)).Where(parts => parts.Length == 3)];
        List<string[]> mounted = [.. Lines(mounts).Select(line => line.Split(' '))];
        return Version1(groups, mounted) ?? Version2(groups, mounted);
    }

    /// <summary>Returns the folder below which a group can be made that limits memory.</summary>
    public string FindParent()
    {
        if (Files == CgroupFiles.Version1)
        {
            return Folder;
        }

        // A group with processes hands no controller down. Then the new one stands beside it, where the one above has handed memory down
        // already.
        foreach (string folder in (string[])[Folder, Path.GetDirectoryName(Folder) ?? Folder])
        {
            string handedDown = Path.Combine(folder, "cgroup.subtree_control");
            if (folder.StartsWith(MountPoint, StringComparison.Ordinal) && File.Exists(handedDown) && HandsDownMemory(handedDown))
            {
                return folder;
            }
        }

        throw new IOException("neither that group nor the one above lets others have the memory controller.");
    }

    private static bool HandsDownMemory(string file)
    {
        if (File.ReadAllText(file).Split((char[])[' ', '\n']).Contains("memory"))
        {
            return true;
        }

        try
        {
            File.WriteAllText(file, "+memory");
            return true;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    // hierarchy:controllers:path
    private static CgroupHierarchy? Version1(List<string[]> groups, List<string[]> mounts)
        => groups.FirstOrDefault(parts => parts[1].Split(',').Contains("memory")) is { } group
            && mounts.FirstOrDefault(mount => Type(mount) == "cgroup" && mount[^1].Split(',').Contains("memory")) is { } mount
                ? Place(group[2], mount, CgroupFiles.Version1)
                : null;

    private static CgroupHierarchy? Version2(List<string[]> groups, List<string[]> mounts)
        => groups.FirstOrDefault(parts => parts[0] == "0" && parts[1].Length == 0) is { } group
            && mounts.FirstOrDefault(mount => Type(mount) == "cgroup2") is { } mount
                ? Place(group[2], mount, CgroupFiles.Version2)
                : null;

    // proc(5): id, parent, device, root, mount point, options, optional fields, a hyphen, type, source, options of the type.
    private static CgroupHierarchy Place(string path, string[] mount, CgroupFiles files)
    {
        // In a container that keeps the host's paths, the mount shows the tree from the container's own group on.
        string root = mount[3];
        string below = path.StartsWith(root, StringComparison.Ordinal) ? path[root.Length..] : path;
        string mountPoint = mount[4];
        return new CgroupHierarchy(Path.TrimEndingDirectorySeparator(Path.Join(mountPoint, below)), mountPoint, files);
    }

    private static string? Type(string[] mount)
        => Array.IndexOf(mount, "-") is > 5 and var hyphen && hyphen + 1 < mount.Length ? mount[hyphen + 1] : null;

    private static string[] Lines(string text) => text.Split('\n', StringSplitOptions.RemoveEmptyEntries);
}
