using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Allocator.Integrations.Native;

/// <summary>Decodes PNG with libpng, through a shim in C (<c>png_shim.c</c>) that keeps libpng's longjmp away from managed code.</summary>
public static unsafe class Png
{
    // Built by build-png-shim.sh; the loader finds it where other native libraries of the process are found.
    private const string Library = "pngshim";
    private const int Refused = 2;
    private const int RowAlignment = 64;

    /// <summary>Decodes to RGBA, 8 bits each; the caller disposes the pixels, which may lie in many blocks.</summary>
    /// <exception cref="MemoryLimitExceededException">There is no room for the pixels.</exception>
    /// <exception cref="OutOfMemoryException">The allocator refused libpng's working memory.</exception>
    /// <exception cref="InvalidDataException">The file is damaged.</exception>
    [return: OwnedBuffer]
    public static PixelBuffer<uint> Decode(ReadOnlySpan<byte> file, MemoryAllocator allocator, NativeAllocationCallbacks callbacks)
    {
        fixed (byte* data = file)
        {
            Run(data, file.Length, callbacks, null, out int width, out int height);

            // Aligned rows lie in unmanaged memory, however small the picture is: an array could move while libpng writes to it.
            PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(width, height, rowAlignmentInBytes: RowAlignment);
            try
            {
                nint address = (nint)data;
                int length = file.Length;
                pixels.ProcessPixelRows(rows =>
                {
                    nint[] table = new nint[rows.Height];
                    for (int y = 0; y < table.Length; y++)
                    {
                        fixed (uint* row = rows.GetRowSpan(y))
                        {
                            table[y] = (nint)row;
                        }
                    }

                    fixed (nint* first = table)
                    {
                        Run((byte*)address, length, callbacks, (byte**)first, out _, out _);
                    }
                });
            }
            catch
            {
                pixels.Dispose();
                throw;
            }

            return pixels;
        }
    }

    private static void Run(byte* data, int length, NativeAllocationCallbacks callbacks, byte** rows, out int width, out int height)
    {
        Functions functions = new() { Context = callbacks.Context, Allocate = callbacks.Allocate, Free = callbacks.Free };
        uint columns;
        uint lines;
        int result = allocator_png_decode(data, (nuint)length, &functions, &columns, &lines, rows);
        if (result == Refused)
        {
            throw new OutOfMemoryException("libpng was refused memory by the allocator: its limit or budget has no room.");
        }

        if (result != 0)
        {
            throw new InvalidDataException("libpng could not decode the file: it is damaged.");
        }

        width = checked((int)columns);
        height = checked((int)lines);
    }

    [DllImport(Library)]
    private static extern int allocator_png_decode(
        byte* data, nuint length, Functions* functions, uint* width, uint* height, byte** rows);

    [StructLayout(LayoutKind.Sequential)]
    private struct Functions
    {
        public nint Context;
        public nint Allocate;
        public nint Free;
    }
}
