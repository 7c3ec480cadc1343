using System;
using System.Collections.Concurrent;

namespace Interleaving;

/// <summary>How the operations of a source file are stepped through. Files are named by the ends of their paths.</summary>
public static class Stepping
{
    private static readonly ConcurrentDictionary<string, Manner> s_byFile = new();
    private static string[] s_ignored = [];
    private static string[] s_joined = [];

    internal enum Manner
    {
        ByLocation,
        Ignored,
        Joined,
    }

    /// <summary>Names files whose operations decide nothing, such as counters for statistics: each happens with the step before it.</summary>
    public static void Ignore(params string[] files)
    {
        s_ignored = files;
        s_byFile.Clear();
    }

    /// <summary>
    /// Names files whose threads share more than the locations of their atomic operations, ordered by a protocol of their own: any two of their steps count as a conflict.
    /// Elsewhere, plain fields are taken to be guarded by the atomic operations around them.
    /// </summary>
    public static void Join(params string[] files)
    {
        s_joined = files;
        s_byFile.Clear();
    }

    internal static Manner Of(string file) => s_byFile.GetOrAdd(file, static path => Ends(path, s_ignored) ? Manner.Ignored : Ends(path, s_joined) ? Manner.Joined : Manner.ByLocation);

    private static bool Ends(string path, string[] files) => Array.Exists(files, file => path.EndsWith("/" + file, StringComparison.Ordinal) || path.EndsWith("\\" + file, StringComparison.Ordinal));
}
