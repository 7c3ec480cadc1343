// Written by hand from https://learn.microsoft.com/dotnet/api/skiasharp: the members that the guide uses. Not the library.
using System;

namespace SkiaSharp;

public delegate void SKBitmapReleaseDelegate(IntPtr address, object context);

public enum SKColorType
{
    Rgba8888 = 4,
}

public enum SKAlphaType
{
    Premul = 2,
}

public struct SKImageInfo
{
    public SKImageInfo(int width, int height, SKColorType colorType, SKAlphaType alphaType) => throw null!;
}

public class SKBitmap : IDisposable
{
    public int Width => throw null!;

    public int Height => throw null!;

    public int RowBytes => throw null!;

    public IntPtr GetPixels() => throw null!;

    public bool InstallPixels(SKImageInfo info, IntPtr pixels, int rowBytes, SKBitmapReleaseDelegate releaseProc, object context) =>
        throw null!;

    public void Dispose() => throw null!;
}
