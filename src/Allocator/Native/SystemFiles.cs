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
            using SystemFile? file = SystemFile.TryOpen(path);
            file?.Refresh();
            return file?.ToString();
        }
        catch (IOException)
        {
            // A control group that was removed just now.
            return null;
        }
    }

    /// <summary>Finds the number behind <paramref name="key"/> in lines of the form <c>key number</c> or <c>key: number kB</c>.</summary>
    public static long? FindNumber(string? text, string key)
    {
        // Line by line, and not split into strings: it is read every second in a process that is limited.
        for (int start = 0; text is not null && start < text.Length; start = text.IndexOf('\n', start) is int end and >= 0 ? end + 1 : text.Length)
        {
            int behind = start + key.Length;
            if (behind < text.Length && string.CompareOrdinal(text, start, key, 0, key.Length) == 0 && text[behind] is (' ' or ':' or '\t'))
            {
                int lineEnd = text.IndexOf('\n', start);
                string[] parts = text.Substring(behind, (lineEnd < 0 ? text.Length : lineEnd) - behind).Split([' ', ':', '\t'], StringSplitOptions.RemoveEmptyEntries);
                if (parts.Length >= 1 && long.TryParse(parts[0], out long number))
                {
                    return parts.Length > 1 && parts[1] == "kB" ? number * 1024 : number;
                }
            }
        }

        return null;
    }
}
