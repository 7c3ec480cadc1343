// Written by hand from https://learn.microsoft.com/dotnet/api/skiasharp: the members that the guide uses, with a model of a bitmap's
// pixels. Not the library.
#pragma warning disable CS1591
using System;
using System.Runtime.InteropServices;

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

public readonly struct SKImageInfo
{
    public SKImageInfo(int width, int height, SKColorType colorType, SKAlphaType alphaType)
    {
        Width = width;
        Height = height;
        ColorType = colorType;
        AlphaType = alphaType;
    }

    public int Width { get; }

    public int Height { get; }

    public SKColorType ColorType { get; }

    public SKAlphaType AlphaType { get; }
}

public class SKBitmap : IDisposable
{
    private SKImageInfo _info;
    private IntPtr _pixels;
    private SKBitmapReleaseDelegate? _release;
    private object? _context;

    public SKBitmap()
    {
    }

    // Skia's own pixels, with a gap behind each row.
    public SKBitmap(SKImageInfo info)
    {
        int rowBytes = (info.Width * 4) + 32;
        InstallPixels(
            info, Marshal.AllocHGlobal(rowBytes * info.Height), rowBytes, static (address, _) => Marshal.FreeHGlobal(address), info);
    }

    public int Width => _info.Width;

    public int Height => _info.Height;

    public int RowBytes { get; private set; }

    /// <summary>Gets whether it has been disposed. Not a member of the library.</summary>
    internal bool IsDisposed { get; private set; }

    public IntPtr GetPixels() => _pixels;

    public bool InstallPixels(SKImageInfo info, IntPtr pixels, int rowBytes, SKBitmapReleaseDelegate releaseProc, object context)
    {
        // Skia refuses rows that are shorter than their pixels, and releases what it was given.
        if (rowBytes < info.Width * 4)
        {
            releaseProc(pixels, context);
            return false;
        }

        (_info, _pixels, RowBytes, _release, _context) = (info, pixels, rowBytes, releaseProc, context);
        return true;
    }

    public void Dispose()
    {
        IsDisposed = true;
        SKBitmapReleaseDelegate? release = _release;
        _release = null;
        release?.Invoke(_pixels, _context!);
        _pixels = IntPtr.Zero;
        GC.SuppressFinalize(this);
    }
}
