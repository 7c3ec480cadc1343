using System;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;

namespace Measuring.Natives;

/// <summary>Asks a loaded library for its version.</summary>
internal static unsafe class NativeAllocatorVersion
{
    /// <summary>Returns it, or the name of the file that holds the function at <paramref name="address"/>, or null.</summary>
    public static string? Read(nint handle, nint address)
        => ReadMimalloc(handle) ?? ReadJemalloc(handle) ?? ReadFileName(address);

    // A digit each for major, minor and patch: 209 is 2.0.9. A longer number is shown as it is.
    private static string? ReadMimalloc(nint handle)
    {
        if (!NativeLibrary.TryGetExport(handle, "mi_version", out nint export))
        {
            return null;
        }

        string digits = ((delegate* unmanaged[Cdecl]<int>)export)().ToString(CultureInfo.InvariantCulture);
        return digits.Length == 3 ? string.Join('.', digits.ToCharArray()) : digits;
    }

    private static string? ReadJemalloc(nint handle)
    {
        if (!NativeLibrary.TryGetExport(handle, "mallctl", out nint export))
        {
            return null;
        }

        byte* text = null;
        nuint length = (nuint)sizeof(byte*);
        int error;
        fixed (byte* name = "version\0"u8)
        {
            error = ((delegate* unmanaged[Cdecl]<byte*, void*, nuint*, void*, nuint, int>)export)(name, &text, &length, null, 0);
        }

        // "5.3.0-0-g54eaed…": what follows the number is for the library's authors.
        return error == 0 && Marshal.PtrToStringUTF8((nint)text) is { } version ? version.Split('-')[0] : null;
    }

    private static string? ReadFileName(nint address)
    {
        const string Mappings = "/proc/self/maps";
        if (!File.Exists(Mappings))
        {
            return null;
        }

        // proc(5): "from-to permissions offset device inode path".
        foreach (string line in File.ReadLines(Mappings))
        {
            int dash = line.IndexOf('-', StringComparison.Ordinal);
            int blank = line.IndexOf(' ', StringComparison.Ordinal);
            long from = long.Parse(line.AsSpan(0, dash), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
            long to = long.Parse(line.AsSpan(dash + 1, blank - dash - 1), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
            if (address >= from && address < to)
            {
                int path = line.IndexOf('/', StringComparison.Ordinal);
                return path < 0 ? null : Path.GetFileName(line[path..]);
            }
        }

        return null;
    }
}
