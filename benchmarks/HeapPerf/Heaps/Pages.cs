using System;

namespace HeapPerf.Heaps;

/// <summary>Writes to memory so that the system has to provide it.</summary>
internal static class Pages
{
    private static readonly int s_pageSize = Environment.SystemPageSize;

    /// <summary>Writes the first byte, and those that follow it by whole pages.</summary>
    public static void Touch(Span<byte> memory)
    {
        for (int i = 0; i < memory.Length; i += s_pageSize)
        {
            memory[i] = 1;
        }
    }
}
