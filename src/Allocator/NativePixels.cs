using System;
using System.Buffers;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;
using static System.FormattableString;

namespace Allocator;

/// <summary>
/// Pixels in the hands of native code: an address that does not move, the bytes of a row, and what releases them. Made by
/// <see cref="PixelBuffer{TPixel}.HandOff"/>.
/// </summary>
/// <remarks>
/// The pixels stay until they are released, by <see cref="Dispose"/> or by <see cref="ReleaseFunction"/>, whichever comes first, from any
/// thread; a second release of either kind does nothing. This object need not be kept meanwhile: dropping it releases nothing.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class NativePixels : IDisposable
{
    // All that native code has, which keeps them reachable. By number: one that is given back a second time stands for nothing, where a
    // handle would stand for another object.
    private static readonly ConcurrentDictionary<nint, NativePixels> s_unreleased = new();

    // Kept for ever: native code may call it at any time.
    private static readonly ReleaseCallback s_release = Release;
    private static readonly nint s_releaseFunction = Marshal.GetFunctionPointerForDelegate(s_release);
    private static long s_lastNumber;

    private readonly nint _pointer;
    private MemoryHandle _pin;

    internal unsafe NativePixels(in MemoryHandle pin, int width, int height, int rowBytes, long lengthInBytes)
    {
        _pin = pin;
        _pointer = (nint)pin.Pointer;
        Width = width;
        Height = height;
        RowBytes = rowBytes;
        LengthInBytes = lengthInBytes;
        do
        {
            // With 32 bits numbers come round again, after four billion.
            ReleaseContext = unchecked((nint)Interlocked.Increment(ref s_lastNumber));
        }
        while (ReleaseContext == 0 || !s_unreleased.TryAdd(ReleaseContext, this));
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate void ReleaseCallback(nint address, nint context);

    /// <summary>Gets the address of the first pixel.</summary>
    /// <exception cref="ObjectDisposedException">The pixels have been released.</exception>
    public nint Pointer
    {
        get
        {
            if (!s_unreleased.ContainsKey(ReleaseContext))
            {
                Throw.Disposed(nameof(NativePixels));
            }

            return _pointer;
        }
    }

    /// <summary>Gets the width in pixels.</summary>
    public int Width { get; }

    /// <summary>Gets the height in rows.</summary>
    public int Height { get; }

    /// <summary>Gets the bytes from the beginning of one row to the beginning of the next.</summary>
    public int RowBytes { get; }

    /// <summary>Gets the bytes from the first pixel to the end of the last row.</summary>
    public long LengthInBytes { get; }

    /// <summary>
    /// Gets a function for native code, <c>void release(void* address, void* context)</c> with the C calling convention, which releases
    /// the pixels that <see cref="ReleaseContext"/> stands for. It is the same function for all pixels, may be called from any thread,
    /// native ones included, does not look at the address, and is never freed.
    /// </summary>
    /// <remarks>Managed code calls <see cref="Dispose"/>: <c>Marshal.GetDelegateForFunctionPointer</c> refuses it.</remarks>
    public nint ReleaseFunction => s_releaseFunction;

    /// <summary>
    /// Gets the context for <see cref="ReleaseFunction"/>: a number, not an address, that stands for these pixels only. What takes it
    /// takes over the release: analyzer rules do not ask for <see cref="Dispose"/> then.
    /// </summary>
    public nint ReleaseContext { get; }

    /// <summary>Releases the pixels. Further calls, and one after <see cref="ReleaseFunction"/>, have no effect.</summary>
    /// <exception cref="MemoryCorruptedException">
    /// In guarded mode, a write outside the buffer. <see cref="ReleaseFunction"/> only raises it as an event.
    /// </exception>
    public void Dispose()
    {
        if (s_unreleased.TryRemove(ReleaseContext, out _))
        {
            _pin.Dispose();
        }
    }

    /// <summary>Describes the pixels in a line: their size, and whether they have been released.</summary>
    public override string ToString() => Invariant(
        $"{nameof(NativePixels)} {Width} × {Height}, {RowBytes:N0} bytes a row, ")
        + (s_unreleased.ContainsKey(ReleaseContext) ? "outstanding" : "released");

    private static void Release(nint address, nint context)
    {
        try
        {
            if (s_unreleased.TryGetValue(context, out NativePixels? pixels))
            {
                pixels.Dispose();
            }
        }
        catch (MemoryCorruptedException)
        {
            // No exception can pass native code, and this one has been raised as an event.
        }
    }
}
