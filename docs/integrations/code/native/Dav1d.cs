using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Allocator.Integrations.Native;

/// <summary>
/// Decodes AV1 with dav1d 1.0, which writes its pictures straight into the allocator's memory. Its working memory, a few megabytes, has no
/// callbacks and stays malloc's: announce it by <see cref="MemoryAllocator.TrackExternalMemory"/>.
/// </summary>
public static unsafe class Dav1d
{
    private const string Library = "libdav1d.so.6";

    // DAV1D_PICTURE_ALIGNMENT: of each plane, and readable behind it. Sides are multiples of 128 pixels.
    private const int Alignment = 64;
    private const int SideMultiple = 128;
    private const int OutOfMemory = -12;
    private const int Again = -11;

    /// <summary>Reads the luma plane of a picture: its width, its height, and its rows one after the other.</summary>
    public delegate void PictureReader(int width, int height, ReadOnlySpan<byte> luma, int stride);

    /// <summary>Decodes the first picture of a stream of OBUs and has its luma plane read; the memory is freed behind that.</summary>
    /// <exception cref="OutOfMemoryException">The allocator refused the picture.</exception>
    /// <exception cref="InvalidDataException">The stream is damaged, or has no picture of 8 bits.</exception>
    public static void DecodeFirst(ReadOnlySpan<byte> obus, NativeAllocationCallbacks callbacks, PictureReader read)
    {
        Functions functions = new()
        {
            Context = callbacks.Context,
            Allocate = (delegate* unmanaged[Cdecl]<nint, nuint, nint>)callbacks.Allocate,
            Free = (delegate* unmanaged[Cdecl]<nint, nint, void>)callbacks.Free,
        };
        Settings settings;
        dav1d_default_settings(&settings);
        settings.Threads = 1;
        settings.FrameDelay = 1;
        settings.Cookie = &functions;
        settings.AllocatePicture = &AllocatePicture;
        settings.ReleasePicture = &ReleasePicture;
        nint context;
        Check(dav1d_open(&context, &settings));
        Data data = default;
        Picture picture = default;
        try
        {
            obus.CopyTo(new Span<byte>(dav1d_data_create(&data, (nuint)obus.Length), obus.Length));
            int result;
            do
            {
                int sent = data.Size > 0 ? dav1d_send_data(context, &data) : 0;
                Check(sent == Again ? 0 : sent);
                result = dav1d_get_picture(context, &picture);
            }
            while (result == Again && data.Size > 0);

            Check(result);
            if (picture.BitsPerComponent != 8)
            {
                throw new InvalidDataException($"The picture has {picture.BitsPerComponent} bits a component; 8 are read here.");
            }

            int stride = (int)picture.LumaStride;
            read(picture.Width, picture.Height, new ReadOnlySpan<byte>(picture.Luma, stride * picture.Height), stride);
        }
        finally
        {
            dav1d_data_unref(&data);
            dav1d_picture_unref(&picture);
            dav1d_close(&context);
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int AllocatePicture(Picture* picture, Functions* functions)
    {
        long width = RoundUp(picture->Width);
        long height = RoundUp(picture->Height);
        long bytes = picture->BitsPerComponent > 8 ? 2 : 1;

        // Layouts: 0 gray, 1 4:2:0, 2 4:2:2, 3 4:4:4.
        long lumaStride = width * bytes;
        long chromaStride = picture->Layout == 0 ? 0 : picture->Layout == 3 ? lumaStride : lumaStride / 2;
        long luma = lumaStride * height;
        long chroma = chromaStride * (picture->Layout == 1 ? height / 2 : height);
        byte* memory = (byte*)functions->Allocate(functions->Context, (nuint)(luma + (2 * chroma) + Alignment));
        if (memory == null)
        {
            return OutOfMemory;
        }

        picture->Luma = memory;
        picture->FirstChroma = chroma == 0 ? null : memory + luma;
        picture->SecondChroma = chroma == 0 ? null : memory + luma + chroma;
        picture->LumaStride = (nint)lumaStride;
        picture->ChromaStride = (nint)chromaStride;
        picture->AllocatorData = memory;
        return 0;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void ReleasePicture(Picture* picture, Functions* functions) =>
        functions->Free(functions->Context, (nint)picture->AllocatorData);

    private static long RoundUp(int side) => (side + (SideMultiple - 1L)) & ~(SideMultiple - 1L);

    private static void Check(int result)
    {
        if (result == OutOfMemory)
        {
            throw new OutOfMemoryException("dav1d was refused memory by the allocator: its limit or budget has no room.");
        }

        if (result < 0)
        {
            throw new InvalidDataException($"dav1d returned {result}: the data is damaged or incomplete.");
        }
    }

    [DllImport(Library)]
    private static extern void dav1d_default_settings(Settings* settings);

    [DllImport(Library)]
    private static extern int dav1d_open(nint* context, Settings* settings);

    [DllImport(Library)]
    private static extern void dav1d_close(nint* context);

    [DllImport(Library)]
    private static extern byte* dav1d_data_create(Data* data, nuint size);

    [DllImport(Library)]
    private static extern void dav1d_data_unref(Data* data);

    [DllImport(Library)]
    private static extern int dav1d_send_data(nint context, Data* data);

    [DllImport(Library)]
    private static extern int dav1d_get_picture(nint context, Picture* picture);

    [DllImport(Library)]
    private static extern void dav1d_picture_unref(Picture* picture);

    private struct Functions
    {
        public nint Context;
        public delegate* unmanaged[Cdecl]<nint, nuint, nint> Allocate;
        public delegate* unmanaged[Cdecl]<nint, nint, void> Free;
    }

    // Dav1dSettings of dav1d.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct Settings
    {
        public int Threads;
        public int FrameDelay;
        public fixed int Others[4];
        public Functions* Cookie;
        public delegate* unmanaged[Cdecl]<Picture*, Functions*, int> AllocatePicture;
        public delegate* unmanaged[Cdecl]<Picture*, Functions*, void> ReleasePicture;
        public fixed byte Rest[128];
    }

    // Dav1dData of data.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct Data
    {
        public byte* Address;
        public nuint Size;
        public fixed ulong Rest[8];
    }

    // Dav1dPicture of picture.h: its headers, planes, parameters, 23 words that are dav1d's own, and the allocator's word.
    [StructLayout(LayoutKind.Sequential)]
    private struct Picture
    {
        public nint SequenceHeader;
        public nint FrameHeader;
        public byte* Luma;
        public byte* FirstChroma;
        public byte* SecondChroma;
        public nint LumaStride;
        public nint ChromaStride;
        public int Width;
        public int Height;
        public int Layout;
        public int BitsPerComponent;
        public fixed ulong Own[23];
        public byte* AllocatorData;
    }
}
