using System.Text.RegularExpressions;

namespace Measurements.Report;

/// <summary>Makes names of files.</summary>
internal static partial class FileName
{
    // A title may be a sentence; a name is to be read in a list of files.
    private const int MostCharacters = 48;

    /// <summary>
    /// Returns as many words of <paramref name="title"/> as make a name, in small letters and digits, with a hyphen for everything
    /// between;
    /// <c>chart</c> where nothing is left.
    /// </summary>
    public static string Slug(string title)
    {
        string slug = Others().Replace(title.ToLowerInvariant(), "-").Trim('-');
        if (slug.Length > MostCharacters)
        {
            int end = slug.LastIndexOf('-', MostCharacters);
            slug = slug[..(end > 0 ? end : MostCharacters)];
        }

        return slug.Length == 0 ? "chart" : slug;
    }

    [GeneratedRegex("[^a-z0-9]+")]
    private static partial Regex Others();
}
