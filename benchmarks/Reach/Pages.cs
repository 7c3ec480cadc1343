using System;

namespace Reach;

/// <summary>Writes to memory as sparsely as makes all of it resident.</summary>
internal static class Pages
{
    // The smallest page there is on the systems that .NET runs on.
    private const int PageSize = 4096;

    /// <summary>Writes one byte of each page.</summary>
    public static void Touch(Span<byte> memory)
    {
        for (int i = 0; i < memory.Length; i += PageSize)
        {
            memory[i] = 1;
        }
    }

    /// <summary>Writes one byte of each page.</summary>
    public static unsafe void Touch(nint memory, int length) => Touch(new Span<byte>((void*)memory, length));
}
