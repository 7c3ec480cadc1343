using System.Text.RegularExpressions;

namespace Report.Pages;

/// <summary>Makes names of files.</summary>
internal static partial class FileName
{
    /// <summary>Returns <paramref name="title"/> in small letters and digits, with a hyphen for everything between; <c>chart</c> where nothing is left.</summary>
    public static string Slug(string title)
    {
        string slug = Others().Replace(title.ToLowerInvariant(), "-").Trim('-');
        return slug.Length == 0 ? "chart" : slug;
    }

    [GeneratedRegex("[^a-z0-9]+")]
    private static partial Regex Others();
}
