using System.IO.Enumeration;

namespace LoadResizeSave.Pictures;

/// <summary>Finds the pictures of a folder.</summary>
internal static class PictureFolder
{
    private static readonly string[] s_endings = [".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".webp"];

    /// <summary>
    /// Returns the pictures below <paramref name="folder"/>, as paths relative to it, in an order that is the same everywhere. What lies
    /// in one of the <paramref name="excluded"/> folders is left out: the program must not read what it writes.
    /// </summary>
    public static IReadOnlyList<string> Find(string folder, params IReadOnlyList<string> excluded)
    {
        EnumerationOptions options = new()
        {
            RecurseSubdirectories = true,
            IgnoreInaccessible = true,
            AttributesToSkip = FileAttributes.None,
        };
        FileSystemEnumerable<string> pictures = new(folder, static (ref FileSystemEntry entry) => entry.ToFullPath(), options)
        {
            ShouldIncludePredicate = static (ref FileSystemEntry entry) => !entry.IsDirectory && IsPicture(entry.FileName),

            // A link to a folder may lead back to where it is.
            ShouldRecursePredicate = (ref FileSystemEntry entry)
                => (entry.Attributes & FileAttributes.ReparsePoint) == 0 && !excluded.Contains(entry.ToFullPath()),
        };
        return [.. pictures.Select(path => Path.GetRelativePath(folder, path)).Order(StringComparer.Ordinal)];
    }

    private static bool IsPicture(ReadOnlySpan<char> name)
    {
        foreach (string ending in s_endings)
        {
            if (name.EndsWith(ending, StringComparison.OrdinalIgnoreCase))
            {
                return true;
            }
        }

        return false;
    }
}
