using System;
using System.Collections.Generic;
using System.Linq;

namespace Allocator.Native;

/// <summary>The control groups that the process is in: its own, and those around it.</summary>
internal static class ControlGroups
{
    public const string Version1Root = "/sys/fs/cgroup/memory";
    public const string Version2Root = "/sys/fs/cgroup";

    private const string Membership = "/proc/self/cgroup";

    /// <summary>Gives the folders of the groups whose memory is controlled by version 1, from the inside out.</summary>
    public static IEnumerable<string> Version1Folders(Func<string, string?> readFile) =>
        Folders(readFile, Version1Root, static parts => parts[1].Split(',').Contains("memory"));

    /// <summary>Gives the folders of version 2, from the inside out.</summary>
    public static IEnumerable<string> Version2Folders(Func<string, string?> readFile) =>
        Folders(readFile, Version2Root, static parts => parts[0] == "0" && parts[1].Length == 0);

    // Lines are hierarchy:controllers:path, with hierarchy 0 and no controllers for version 2.
    private static IEnumerable<string> Folders(Func<string, string?> readFile, string root, Func<string[], bool> isWanted) =>
        from line in (readFile(Membership) ?? string.Empty).Split('\n')
        let parts = line.Trim().Split([':'], 3)
        where parts.Length == 3 && isWanted(parts)
        from folder in Climb(root, parts[2])
        select folder;

    // A limit of any ancestor binds. In a container the path may be the host's and lead nowhere: then only the root of the mount answers, which is the container.
    private static IEnumerable<string> Climb(string root, string path)
    {
        string folder = path.TrimEnd('/');
        while (true)
        {
            yield return root + folder;
            int slash = folder.LastIndexOf('/');
            if (slash < 0)
            {
                yield break;
            }

            folder = folder.Substring(0, slash);
        }
    }
}
