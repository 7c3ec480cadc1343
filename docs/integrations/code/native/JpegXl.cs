using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Allocator.Integrations.Native;

/// <summary>Decodes JPEG XL with libjxl 0.7: its working memory and the pixels come from one allocator, or one reservation.</summary>
public static unsafe class JpegXl
{
    /// <summary>The name by which the library is loaded; a <c>DllImportResolver</c> can put another version in its place.</summary>
    public const string Library = "libjxl.so.0.7";

    private const int Success = 0;
    private const int NeedImageOutBuffer = 5;
    private const int BasicInfo = 0x40;
    private const int FullImage = 0x1000;

    // JxlBasicInfo of codestream_header.h, in fields of four bytes. It is shorter than this in all versions.
    private const int InfoLength = 256;
    private const int WidthField = 1;
    private const int HeightField = 2;
    private const int UsesOriginalProfileField = 9;
    private const int ExtraChannelsField = 14;

    /// <summary>Reads the header, which is enough to know what the picture takes: memory is not allocated for its pixels.</summary>
    /// <param name="start">The file, or as much of it as has the header.</param>
    /// <param name="callbacks">Where libjxl allocates; null: <c>malloc</c>.</param>
    /// <exception cref="InvalidDataException">There is no header, or libjxl was refused memory.</exception>
    public static JpegXlHeader ReadHeader(ReadOnlySpan<byte> start, NativeAllocationCallbacks? callbacks = null) =>
        Run(start, default, channels: 0, callbacks);

    /// <summary>Decodes to RGBA, 8 bits each; the caller disposes the pixels.</summary>
    /// <exception cref="MemoryLimitExceededException">There is no room for the pixels.</exception>
    /// <exception cref="InvalidDataException">
    /// The file is damaged, or libjxl was refused memory: it reports both as the same error. Or the pixels are more than 2 GiB.
    /// </exception>
    [return: OwnedBuffer]
    public static PixelBuffer<uint> Decode(ReadOnlySpan<byte> file, MemoryAllocator allocator, NativeAllocationCallbacks callbacks)
    {
        JpegXlHeader header = ReadHeader(file, callbacks);

        // libjxl writes one contiguous image, and a span has at most 2 GiB.
        if (4L * header.Width * header.Height > int.MaxValue)
        {
            throw new InvalidDataException($"{header.Width} x {header.Height} pixels are more than 2 GiB, the most that is decoded here.");
        }

        PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(header.Width, header.Height, AllocationOptions.Contiguous);
        try
        {
            fixed (byte* data = file)
            {
                nint address = (nint)data;
                int length = file.Length;
                _ = pixels.TryProcessSinglePixelSpan(span => DecodeInto(
                    new ReadOnlySpan<byte>((void*)address, length), MemoryMarshal.AsBytes(span), channels: 4, callbacks));
            }

            return pixels;
        }
        catch
        {
            pixels.Dispose();
            throw;
        }
    }

    /// <summary>Decodes the first frame to 8 bits a channel.</summary>
    /// <param name="file">The whole file.</param>
    /// <param name="pixels">All rows, one behind the other; its length is width × height × channels.</param>
    /// <param name="channels">3 for RGB, 4 for RGBA.</param>
    /// <param name="callbacks">Where libjxl allocates; null: <c>malloc</c>.</param>
    /// <exception cref="InvalidDataException">As above, or the pixels do not fit.</exception>
    public static void DecodeInto(ReadOnlySpan<byte> file, Span<byte> pixels, int channels, NativeAllocationCallbacks? callbacks) =>
        Run(file, pixels, channels, callbacks);

    private static JpegXlHeader Run(ReadOnlySpan<byte> file, Span<byte> pixels, int channels, NativeAllocationCallbacks? callbacks)
    {
        MemoryManager manager = callbacks is null
            ? default
            : new() { Context = callbacks.Context, Allocate = callbacks.Allocate, Free = callbacks.Free };
        nint decoder = JxlDecoderCreate(callbacks is null ? null : &manager);
        Check(decoder != 0);
        try
        {
            // libjxl keeps the addresses until the image is complete.
            fixed (byte* input = file, target = pixels)
            {
                Check(JxlDecoderSubscribeEvents(decoder, pixels.IsEmpty ? BasicInfo : BasicInfo | FullImage) == Success);
                Check(JxlDecoderSetInput(decoder, input, (nuint)file.Length) == Success);
                JxlDecoderCloseInput(decoder);
                Check(JxlDecoderProcessInput(decoder) == BasicInfo);
                uint* info = stackalloc uint[InfoLength];
                Check(JxlDecoderGetBasicInfo(decoder, info) == Success);
                if (!pixels.IsEmpty)
                {
                    PixelFormat format = new() { Channels = (uint)channels, DataType = 2 };
                    Check(JxlDecoderProcessInput(decoder) == NeedImageOutBuffer);
                    Check(JxlDecoderSetImageOutBuffer(decoder, &format, target, (nuint)pixels.Length) == Success);
                    Check(JxlDecoderProcessInput(decoder) == FullImage);
                }

                return new JpegXlHeader(
                    (int)info[WidthField], (int)info[HeightField], (int)info[ExtraChannelsField], info[UsesOriginalProfileField] != 0);
            }
        }
        finally
        {
            JxlDecoderDestroy(decoder);
        }
    }

    private static void Check(bool isGood)
    {
        if (!isGood)
        {
            throw new InvalidDataException("libjxl could not decode: the file is damaged, or the allocator refused memory.");
        }
    }

    [DllImport(Library)]
    private static extern nint JxlDecoderCreate(MemoryManager* manager);

    [DllImport(Library)]
    private static extern void JxlDecoderDestroy(nint decoder);

    [DllImport(Library)]
    private static extern int JxlDecoderSubscribeEvents(nint decoder, int events);

    [DllImport(Library)]
    private static extern int JxlDecoderSetInput(nint decoder, byte* data, nuint size);

    [DllImport(Library)]
    private static extern void JxlDecoderCloseInput(nint decoder);

    [DllImport(Library)]
    private static extern int JxlDecoderProcessInput(nint decoder);

    [DllImport(Library)]
    private static extern int JxlDecoderGetBasicInfo(nint decoder, uint* info);

    [DllImport(Library)]
    private static extern int JxlDecoderSetImageOutBuffer(nint decoder, PixelFormat* format, void* buffer, nuint size);

    // JxlMemoryManager of memory_manager.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct MemoryManager
    {
        public nint Context;
        public nint Allocate;
        public nint Free;
    }

    // JxlPixelFormat of types.h; data type 2 is 8 bits.
    [StructLayout(LayoutKind.Sequential)]
    private struct PixelFormat
    {
        public uint Channels;
        public int DataType;
        public int Endianness;
        public nuint Align;
    }
}

/// <summary>What the header of a JPEG XL says of the memory that decoding takes.</summary>
/// <param name="Width">Columns, as the picture is to be seen.</param>
/// <param name="Height">Rows, as the picture is to be seen.</param>
/// <param name="ExtraChannels">Channels beside the colours: alpha, depth and others. All are decoded.</param>
/// <param name="IsOriginal">
/// Whether the colours are stored as they were, as in lossless pictures: where these are progressive, decoding takes 24 bytes a pixel.
/// </param>
public readonly record struct JpegXlHeader(int Width, int Height, int ExtraChannels, bool IsOriginal);
