using System.Collections.Concurrent;

namespace Allocator.Concurrency.Interleaving;

/// <summary>Which operations are stepped through. Files are named by the ends of their paths.</summary>
public static class Stepping
{
    private static readonly ConcurrentDictionary<string, bool> s_byFile = new();
    private static readonly ConcurrentDictionary<string, bool> s_ofScenarios = new();
    private static string[] s_ignored = [];

    /// <summary>
    /// Names files whose operations decide nothing, such as counters for statistics: each happens with the step before it.
    /// </summary>
    public static void Ignore(params string[] files)
    {
        s_ignored = files;
        s_byFile.Clear();
    }

    internal static bool Ignores(string file) => s_byFile.GetOrAdd(
        file, static path =>
            Array.Exists(s_ignored, ignored => path.EndsWith("/" + ignored, StringComparison.Ordinal)
                || path.EndsWith("\\" + ignored, StringComparison.Ordinal)));

    // By folder. What these note is seen by all threads at once, and orders nothing.
    internal static bool IsOfScenario(string file) => s_ofScenarios.GetOrAdd(
        file, static path => Array.IndexOf(path.Split('/', '\\'), "Scenarios") >= 0);
}
