namespace LoadResizeSave.Codecs.Jpeg;

/// <summary>One compressor or decompressor of libjpeg-turbo: used by one thread at a time, and destroyed with the picture.</summary>
internal readonly unsafe struct TurboJpegHandle : IDisposable
{
    private readonly TurboJpegLibrary _library;

    public TurboJpegHandle(TurboJpegLibrary library, bool compress)
    {
        _library = library;
        Value = compress ? library.InitCompress() : library.InitDecompress();
        if (Value == 0)
        {
            throw new OutOfMemoryException($"libjpeg-turbo could not start: {Marshal.PtrToStringUTF8((nint)library.GetErrorText(0))}");
        }
    }

    public nint Value { get; }

    /// <summary>Throws, with the library's own words, where <paramref name="result"/> tells of a failure.</summary>
    public void Check(int result)
    {
        if (result != 0)
        {
            throw new UnreadablePictureException($"libjpeg-turbo: {Marshal.PtrToStringUTF8((nint)_library.GetErrorText(Value))}");
        }
    }

    public void Dispose() => _ = _library.Destroy(Value);
}
