// Written by hand from https://kleisauke.github.io/net-vips: the members that the guide uses. Not the library.
using System;

namespace NetVips;

public static class Enums
{
    public enum BandFormat
    {
        Uchar = 0,
    }
}

public class Image : IDisposable
{
    public static Image NewFromMemory(IntPtr data, ulong size, int width, int height, int bands, Enums.BandFormat format) => throw null!;

    public void Dispose() => throw null!;
}
