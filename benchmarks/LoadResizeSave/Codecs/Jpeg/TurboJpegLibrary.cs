namespace LoadResizeSave.Codecs.Jpeg;

/// <summary>
/// libjpeg-turbo's own library, as the system has it. Loaded by name at run time, because the program must also start where it is missing.
/// </summary>
internal sealed unsafe class TurboJpegLibrary
{
    // turbojpeg.h: TJPF_RGB, TJSAMP_420, TJFLAG_*.
    public const int PixelFormatRgb = 0;
    public const int Subsampling420 = 2;
    public const int FlagNoReallocation = 1024;
    public const int FlagAccurateDct = 4096;
    public const int FlagStopOnWarning = 8192;
    public const int FlagLimitScans = 32768;

    private static readonly string[] s_names = OperatingSystem.IsWindows()
        ? ["turbojpeg.dll", "libturbojpeg.dll", @"C:\libjpeg-turbo64\bin\turbojpeg.dll"]
        : OperatingSystem.IsMacOS()
            ?
            [
                "libturbojpeg.dylib", "/opt/homebrew/opt/jpeg-turbo/lib/libturbojpeg.dylib",
                "/usr/local/opt/jpeg-turbo/lib/libturbojpeg.dylib",
            ]
            : ["libturbojpeg.so.0", "libturbojpeg.so"];

    private TurboJpegLibrary(nint library)
    {
        nint Export(string name) => NativeLibrary.GetExport(library, name);
        InitCompress = (delegate* unmanaged<nint>)Export("tjInitCompress");
        InitDecompress = (delegate* unmanaged<nint>)Export("tjInitDecompress");
        Destroy = (delegate* unmanaged<nint, int>)Export("tjDestroy");
        GetErrorText = (delegate* unmanaged<nint, byte*>)Export("tjGetErrorStr2");
        BufferSize = (delegate* unmanaged<int, int, int, CULong>)Export("tjBufSize");
        DecompressHeader = (delegate* unmanaged<nint, byte*, CULong, int*, int*, int*, int*, int>)Export("tjDecompressHeader3");
        Decompress = (delegate* unmanaged<nint, byte*, CULong, byte*, int, int, int, int, int, int>)Export("tjDecompress2");
        Compress = (delegate* unmanaged<nint, byte*, int, int, int, int, byte**, CULong*, int, int, int, int>)Export("tjCompress2");
    }

    public delegate* unmanaged<nint> InitCompress { get; }

    public delegate* unmanaged<nint> InitDecompress { get; }

    public delegate* unmanaged<nint, int> Destroy { get; }

    public delegate* unmanaged<nint, byte*> GetErrorText { get; }

    /// <summary>
    /// Gets <c>tjBufSize(width, height, subsampling)</c>: no JPEG of that size is larger. C's <c>unsigned long</c> has 32 bits on Windows.
    /// </summary>
    public delegate* unmanaged<int, int, int, CULong> BufferSize { get; }

    /// <summary>Gets <c>tjDecompressHeader3(handle, file, length, width, height, subsampling, colourSpace)</c>.</summary>
    public delegate* unmanaged<nint, byte*, CULong, int*, int*, int*, int*, int> DecompressHeader { get; }

    /// <summary>Gets <c>tjDecompress2(handle, file, length, pixels, width, pitch, height, pixelFormat, flags)</c>.</summary>
    public delegate* unmanaged<nint, byte*, CULong, byte*, int, int, int, int, int, int> Decompress { get; }

    /// <summary>
    /// Gets <c>tjCompress2(handle, pixels, width, pitch, height, pixelFormat, file, length, subsampling, quality, flags)</c>.
    /// </summary>
    public delegate* unmanaged<nint, byte*, int, int, int, int, byte**, CULong*, int, int, int, int> Compress { get; }

    /// <summary>Loads the library; null where the system has none, or one too old to have every function.</summary>
    public static TurboJpegLibrary? TryLoad()
    {
        foreach (string name in s_names)
        {
            if (NativeLibrary.TryLoad(name, typeof(TurboJpegLibrary).Assembly, null, out nint library))
            {
                try
                {
                    return new TurboJpegLibrary(library);
                }
                catch (EntryPointNotFoundException)
                {
                    NativeLibrary.Free(library);
                }
            }
        }

        return null;
    }
}
