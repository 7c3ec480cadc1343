using System;
using System.Buffers.Text;

namespace Allocator.Native;

/// <summary>How much memory of this process is resident, as Linux tells it.</summary>
internal static class ResidentMemory
{
    /// <summary>Reads it, in bytes; 0 where it is not told. Never throws.</summary>
    public static long Read()
    {
        try
        {
            // Pages: all, resident, shared and so on.
            using SystemFile? file = SystemFile.TryOpen("/proc/self/statm");
            file?.Refresh();
            ReadOnlySpan<byte> text = file is null ? default : file.Text;
            int second = text.IndexOf((byte)' ') + 1;
            return Utf8Parser.TryParse(text.Slice(second), out long pages, out _) ? pages * Environment.SystemPageSize : 0;
        }
        catch (Exception)
        {
            // For want of managed memory.
            return 0;
        }
    }
}
