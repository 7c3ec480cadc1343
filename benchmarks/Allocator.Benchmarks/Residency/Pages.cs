using System;

namespace Allocator.Benchmarks.Residency;

/// <summary>Makes memory resident.</summary>
internal static class Pages
{
    private static readonly int s_size = Environment.SystemPageSize;

    /// <summary>Writes the first byte of every page, which is the least that makes the system provide it.</summary>
    public static void Touch(Span<byte> memory)
    {
        for (int i = 0; i < memory.Length; i += s_size)
        {
            memory[i] = 1;
        }
    }
}
