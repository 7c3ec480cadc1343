using System;
using System.IO;

namespace Allocator.Native;

/// <summary>Reads the small text files in which Linux tells about itself.</summary>
internal static class SystemFiles
{
    /// <summary>Gives the text of a file, or null where it is not there or not for us.</summary>
    public static string? TryRead(string path)
    {
        try
        {
            return File.Exists(path) ? File.ReadAllText(path) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>Finds the number behind <paramref name="key"/> in lines of the form <c>key number</c> or <c>key: number kB</c>.</summary>
    public static long? FindNumber(string? text, string key)
    {
        foreach (string line in (text ?? string.Empty).Split('\n'))
        {
            string[] parts = line.Split([' ', ':', '\t'], StringSplitOptions.RemoveEmptyEntries);
            if (parts.Length >= 2 && parts[0] == key && long.TryParse(parts[1], out long number))
            {
                return parts.Length > 2 && parts[2] == "kB" ? number * 1024 : number;
            }
        }

        return null;
    }
}
