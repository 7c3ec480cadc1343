using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Allocator.Integrations.Native;

/// <summary>Inflates with zlib, whose working memory comes from an allocator.</summary>
public static unsafe class Zlib
{
    private const string Library = "libz.so.1";
    private const int Ok = 0;
    private const int StreamEnd = 1;
    private const int OutOfMemory = -4;
    private const int Finish = 4;

    // zlib, or gzip with its header: 15 bits of window, and 32 to detect which.
    private const int DetectedWindowBits = 15 + 32;

    /// <summary>Inflates a whole stream and returns its length.</summary>
    /// <exception cref="OutOfMemoryException">The allocator refused memory.</exception>
    /// <exception cref="InvalidDataException">The stream is damaged, or longer than the destination.</exception>
    public static int Inflate(ReadOnlySpan<byte> source, Span<byte> destination, NativeAllocationCallbacks callbacks)
    {
        fixed (byte* input = source, output = destination)
        {
            ZStream stream = new()
            {
                NextIn = input,
                AvailableIn = (uint)source.Length,
                NextOut = output,
                AvailableOut = (uint)destination.Length,
                AllocateArray = callbacks.AllocateArray,
                Free = callbacks.Free,
                Context = callbacks.Context,
            };
            Check(inflateInit2_(&stream, DetectedWindowBits, zlibVersion(), sizeof(ZStream)), Ok);
            try
            {
                Check(inflate(&stream, Finish), StreamEnd);
                return checked((int)(uint)stream.TotalOut);
            }
            finally
            {
                _ = inflateEnd(&stream);
            }
        }
    }

    private static void Check(int result, int expected)
    {
        if (result == OutOfMemory)
        {
            throw new OutOfMemoryException("zlib was refused memory by the allocator: its limit or budget has no room.");
        }

        if (result != expected)
        {
            throw new InvalidDataException($"zlib returned {result}: the data is damaged, or longer than the destination.");
        }
    }

    [DllImport(Library)]
    private static extern nint zlibVersion();

    [DllImport(Library)]
    private static extern int inflateInit2_(ZStream* stream, int windowBits, nint version, int streamSize);

    [DllImport(Library)]
    private static extern int inflate(ZStream* stream, int flush);

    [DllImport(Library)]
    private static extern int inflateEnd(ZStream* stream);

    // z_stream of zlib.h; unsigned long is as long as an address on Unix systems.
    [StructLayout(LayoutKind.Sequential)]
    private struct ZStream
    {
        public byte* NextIn;
        public uint AvailableIn;
        public nuint TotalIn;
        public byte* NextOut;
        public uint AvailableOut;
        public nuint TotalOut;
        public nint Message;
        public nint State;
        public nint AllocateArray;
        public nint Free;
        public nint Context;
        public int DataType;
        public nuint Adler;
        public nuint Reserved;
    }
}
