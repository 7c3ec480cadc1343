using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Allocator.Integrations.Native;

/// <summary>Decodes JPEG XL with libjxl 0.7: its working memory and the pixels come from one allocator, or one reservation.</summary>
public static unsafe class JpegXl
{
    private const string Library = "libjxl.so.0.7";
    private const int Success = 0;
    private const int NeedImageOutBuffer = 5;
    private const int BasicInfo = 0x40;
    private const int FullImage = 0x1000;

    // JxlBasicInfo begins with: have_container, xsize, ysize. It is shorter than this in all versions.
    private const int InfoLength = 256;

    /// <summary>Decodes to RGBA, 8 bits each; the caller disposes the pixels.</summary>
    /// <exception cref="MemoryLimitExceededException">There is no room for the pixels.</exception>
    /// <exception cref="InvalidDataException">
    /// The file is damaged, or libjxl was refused memory: it reports both as the same error.
    /// </exception>
    [return: OwnedBuffer]
    public static PixelBuffer<uint> Decode(ReadOnlySpan<byte> file, MemoryAllocator allocator, NativeAllocationCallbacks callbacks)
    {
        MemoryManager manager = new() { Context = callbacks.Context, Allocate = callbacks.Allocate, Free = callbacks.Free };
        nint decoder = JxlDecoderCreate(&manager);
        Check(decoder != 0);
        try
        {
            fixed (byte* input = file)
            {
                Check(JxlDecoderSubscribeEvents(decoder, BasicInfo | FullImage) == Success);
                Check(JxlDecoderSetInput(decoder, input, (nuint)file.Length) == Success);
                JxlDecoderCloseInput(decoder);
                Check(JxlDecoderProcessInput(decoder) == BasicInfo);
                uint* info = stackalloc uint[InfoLength];
                Check(JxlDecoderGetBasicInfo(decoder, info) == Success);

                // libjxl writes one contiguous image.
                PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>((int)info[1], (int)info[2], AllocationOptions.Contiguous);
                try
                {
                    // libjxl keeps the address until the image is complete, so the decoder runs while the rows are lent.
                    pixels.ProcessPixelRows(rows => Fill(decoder, rows));
                    return pixels;
                }
                catch
                {
                    pixels.Dispose();
                    throw;
                }
            }
        }
        finally
        {
            JxlDecoderDestroy(decoder);
        }
    }

    private static void Fill(nint decoder, PixelAccessor<uint> rows)
    {
        fixed (uint* target = rows.GetRowSpan(0))
        {
            PixelFormat format = new() { Channels = 4, DataType = 2 };
            Check(JxlDecoderProcessInput(decoder) == NeedImageOutBuffer);
            nuint length = (nuint)rows.Width * (nuint)rows.Height * sizeof(uint);
            Check(JxlDecoderSetImageOutBuffer(decoder, &format, target, length) == Success);
            Check(JxlDecoderProcessInput(decoder) == FullImage);
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
