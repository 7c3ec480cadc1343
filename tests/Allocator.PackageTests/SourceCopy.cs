using Allocator.Tests;

namespace Allocator.PackageTests;

/// <summary>A clone of the repository with the files as they stand in the working tree, uncommitted changes and all.</summary>
internal static class SourceCopy
{
    /// <summary>Where the clones say that they come from: an address that SourceLink knows how to turn into one of source files.</summary>
    public const string Remote = "https://github.com/example/allocator";

    /// <summary>Makes one in an empty folder.</summary>
    /// <param name="repository">What is cloned.</param>
    /// <param name="folder">The folder.</param>
    /// <param name="backwards">Whether files are written in the opposite order, which file systems may list them in.</param>
    public static void Make(string repository, string folder, bool backwards = false)
    {
        Git("clone", "--quiet", "--no-checkout", repository, folder);
        Git("-C", folder, "remote", "set-url", "origin", Remote + ".git");
        string[] files = Git("-C", repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
            .Split('\0', StringSplitOptions.RemoveEmptyEntries);
        IEnumerable<string> ordered = backwards ? files.Reverse() : files;

        // What is listed and not there has been deleted and not committed.
        foreach (string file in ordered.Where(file => File.Exists(Path.Combine(repository, file))))
        {
            string target = Path.Combine(folder, file);
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(Path.Combine(repository, file), target);
        }
    }

    /// <summary>Returns the commit that a clone stands at.</summary>
    public static string Commit(string folder) => Git("-C", folder, "rev-parse", "HEAD").Trim();

    private static string Git(params string[] arguments) =>
        CommandLine.Run("git", Repository.Root, new Dictionary<string, string>(), arguments);
}
