using System;
using System.Collections.Concurrent;

namespace Interleaving;

/// <summary>Which source files' operations are steps. Those of the others happen with the step before them.</summary>
public static class Stepping
{
    private static readonly ConcurrentDictionary<string, bool> s_byFile = new();
    private static string[] s_ignored = [];

    /// <summary>Names files, by the ends of their paths, whose operations decide nothing, such as counters for statistics.</summary>
    public static void Ignore(params string[] files)
    {
        s_ignored = files;
        s_byFile.Clear();
    }

    internal static bool IsSteppedThrough(string file) =>
        s_byFile.GetOrAdd(file, static path => !Array.Exists(s_ignored, ignored => path.EndsWith(ignored, StringComparison.Ordinal)));
}
