using System.Globalization;

namespace PlatformSmoke.Linux;

/// <summary>What a control group of version 2 says of the process in it.</summary>
internal static class ControlGroupFiles
{
    private const string Root = "/sys/fs/cgroup";

    /// <summary>Gets the folder of the process's own group.</summary>
    public static string Own { get; } = Root + File.ReadAllLines("/proc/self/cgroup")
        .First(static line => line.StartsWith("0::", StringComparison.Ordinal)).Substring(3).TrimEnd('/');

    /// <summary>Gets what the group is charged for.</summary>
    public static long ChargedBytes => ReadNumber(Own + "/memory.current");

    public static long ReadNumber(string path) => long.Parse(File.ReadAllText(path), CultureInfo.InvariantCulture);

    /// <summary>Reads one figure of <c>memory.stat</c>.</summary>
    public static long ReadFigure(string folder, string name) => long.Parse(
        File.ReadLines(folder + "/memory.stat").First(line => line.StartsWith(name + " ", StringComparison.Ordinal)).Split(' ')[1],
        CultureInfo.InvariantCulture);
}
