namespace Measuring.Machines;

/// <summary>The commit of the working tree that is measured, by the <c>git</c> of the machine.</summary>
public static class ThisCommit
{
    // What is measured is more than what was committed.
    private const char Changed = '+';

    private static readonly string[] s_sources = ["src", "benchmarks", ":!benchmarks/results"];

    /// <summary>Gets the commit, with a plus sign if sources have changed since; null outside of a clone.</summary>
    public static string? Name { get; } = Git("rev-parse", "--short=10", "HEAD")?.Trim() is not { Length: > 0 } commit
        ? null
        : Git(["status", "--porcelain", "--", .. s_sources]) is { Length: 0 } ? commit : commit + Changed;

    /// <summary>Returns whether these files are what they were at that commit, but for comments.</summary>
    public static bool IsUnchangedSince(string commit, IEnumerable<string> files)
        => !commit.EndsWith(Changed)
            && Git(["diff", @"--ignore-matching-lines=^\s*//", commit, "--", .. files]) is { Length: 0 }
            && Git(["status", "--porcelain", "--", .. files]) is { Length: 0 };

    private static string? Git(params string[] arguments)
    {
        try
        {
            return ChildProgram.Run(new ProcessStartInfo("git", arguments));
        }
        catch (ChildFailedException)
        {
            return null;
        }
    }
}
