namespace Measurements.Factors;

/// <summary>JPEG XL through libjxl, on one thread.</summary>
internal sealed unsafe class JxlFile : MeasuredCodec
{
    private const string Library = "libjxl";
    private const int Success = 0;
    private const int NeedImageOutBuffer = 5;
    private const int BasicInfo = 0x40;
    private const int FullImage = 0x1000;

    // JxlBasicInfo of codestream_header.h, in fields of four bytes, and room for those that a later version adds.
    private const int InfoLength = 1024;
    private const int WidthField = 1;
    private const int HeightField = 2;
    private const int UsesOriginalProfileField = 9;

    private static readonly string[] s_names = ["libjxl.so.0.7", "libjxl.so.0.11", "libjxl.so.0.10", "libjxl.so.0.9", "libjxl.so.0.8"];

    private readonly delegate* unmanaged<nint, nint> _create;
    private readonly delegate* unmanaged<nint, void> _destroy;
    private readonly delegate* unmanaged<nint, int, int> _subscribe;
    private readonly delegate* unmanaged<nint, byte*, nuint, int> _setInput;
    private readonly delegate* unmanaged<nint, void> _closeInput;
    private readonly delegate* unmanaged<nint, int> _process;
    private readonly delegate* unmanaged<nint, uint*, int> _getInfo;
    private readonly delegate* unmanaged<nint, PixelFormat*, void*, nuint, int> _setOutput;

    private JxlFile(nint library)
    {
        _create = (delegate* unmanaged<nint, nint>)NativeLibrary.GetExport(library, "JxlDecoderCreate");
        _destroy = (delegate* unmanaged<nint, void>)NativeLibrary.GetExport(library, "JxlDecoderDestroy");
        _subscribe = (delegate* unmanaged<nint, int, int>)NativeLibrary.GetExport(library, "JxlDecoderSubscribeEvents");
        _setInput = (delegate* unmanaged<nint, byte*, nuint, int>)NativeLibrary.GetExport(library, "JxlDecoderSetInput");
        _closeInput = (delegate* unmanaged<nint, void>)NativeLibrary.GetExport(library, "JxlDecoderCloseInput");
        _process = (delegate* unmanaged<nint, int>)NativeLibrary.GetExport(library, "JxlDecoderProcessInput");
        _getInfo = (delegate* unmanaged<nint, uint*, int>)NativeLibrary.GetExport(library, "JxlDecoderGetBasicInfo");
        _setOutput =
            (delegate* unmanaged<nint, PixelFormat*, void*, nuint, int>)NativeLibrary.GetExport(library, "JxlDecoderSetImageOutBuffer");
    }

    public static JxlFile? TryLoad()
    {
        foreach (string name in s_names)
        {
            if (NativeLibrary.TryLoad(name, out nint library))
            {
                return new JxlFile(library);
            }
        }

        return null;
    }

    public override bool Recognizes(ReadOnlySpan<byte> file) =>
        file.StartsWith<byte>([0xFF, 0x0A]) || (file.Length > 12 && file[4..].StartsWith("JXL "u8));

    public override PictureSize ReadSize(ReadOnlyMemory<byte> file) => Run(file, BasicInfo, static (_, _) => { }).Size;

    /// <summary>Tells lossy pictures, which are stored in a space of colours of their own, from the others.</summary>
    public override string Describe(ReadOnlyMemory<byte> file) =>
        $"{Library}, {(Run(file, BasicInfo, static (_, _) => { }).IsOriginal ? "lossless" : "lossy")}";

    public override Raster<Rgb24> Decode(ReadOnlyMemory<byte> file, PixelStore store)
    {
        // The library keeps the address that it is given until the picture is complete, so all of it runs while the pixels are lent.
        PictureSize size = ReadSize(file);
        return Fill(size, store, pixels =>
        {
            fixed (Rgb24* target = pixels)
            {
                nint address = (nint)target;
                nuint length = (nuint)pixels.Length * (nuint)sizeof(Rgb24);
                _ = Run(file, BasicInfo | FullImage, (library, decoder) =>
                {
                    PixelFormat format = new() { Channels = 3, DataType = 2 };
                    Check(library._setOutput(decoder, &format, (void*)address, length) == Success, Library, "the pixels do not fit");
                });
            }
        });
    }

    private (PictureSize Size, bool IsOriginal) Run(ReadOnlyMemory<byte> file, int events, Action<JxlFile, nint> setOutput)
    {
        using MemoryHandle pin = file.Pin();
        nint decoder = _create(0);
        try
        {
            Check(decoder != 0 && _subscribe(decoder, events) == Success, Library, "it could not start");
            Check(_setInput(decoder, (byte*)pin.Pointer, (nuint)file.Length) == Success, Library, "it takes no input");
            _closeInput(decoder);
            (PictureSize, bool) header = default;
            uint* info = stackalloc uint[InfoLength / sizeof(uint)];
            while (true)
            {
                switch (_process(decoder))
                {
                    case BasicInfo:
                        Check(_getInfo(decoder, info) == Success, Library, "the header is damaged");
                        header = (new PictureSize((int)info[WidthField], (int)info[HeightField]), info[UsesOriginalProfileField] != 0);
                        if (events == BasicInfo)
                        {
                            return header;
                        }

                        break;
                    case NeedImageOutBuffer:
                        setOutput(this, decoder);
                        break;
                    case FullImage:
                    case Success:
                        return header;
                    default:
                        throw new UnreadablePictureException($"{Library}: the data is damaged");
                }
            }
        }
        finally
        {
            if (decoder != 0)
            {
                _destroy(decoder);
            }
        }
    }

    // JxlPixelFormat of types.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct PixelFormat
    {
        public uint Channels;
        public int DataType;
        public int Endianness;
        public nuint Align;
    }
}
