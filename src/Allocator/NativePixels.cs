using Allocator.Adapters;

namespace Allocator;

/// <summary>
/// Pixels for native code: an address that does not move, the bytes of a row, and a function that releases them. Made by
/// <see cref="PixelBuffer{TPixel}.HandOff"/>.
/// </summary>
/// <remarks>
/// The pixels stay until they are released, by <see cref="Dispose"/> or by <see cref="ReleaseFunction"/>, whichever comes first, from any
/// thread; a second release of either kind does nothing. This object need not be kept meanwhile: dropping it releases nothing.
/// </remarks>
public sealed class NativePixels : IDisposable
{
    // Kept for ever: native code may call it at any time.
    private static readonly ReleaseCallback s_release = Release;
    private static readonly nint s_releaseFunction = Marshal.GetFunctionPointerForDelegate(s_release);

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
        ReleaseContext = NativeContexts.Add(this);
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate void ReleaseCallback(nint address, nint context);

    /// <summary>Gets the address of the first pixel.</summary>
    /// <exception cref="ObjectDisposedException">The pixels have been released.</exception>
    public nint Pointer
    {
        get
        {
            Throw.IfDisposed(IsReleased, nameof(NativePixels));
            return _pointer;
        }
    }

    /// <summary>Gets the width in pixels.</summary>
    public int Width { get; }

    /// <summary>Gets the height in rows.</summary>
    public int Height { get; }

    /// <summary>
    /// Gets the bytes from the beginning of one row to the beginning of the next; negative if the first row is the last in memory.
    /// </summary>
    public int RowBytes { get; }

    /// <summary>Gets the bytes from the beginning of the lowest row in memory to the end of the highest.</summary>
    public long LengthInBytes { get; }

    /// <summary>
    /// Gets a function for native code, <c>void release(void* address, void* context)</c> with the C calling convention, which releases the
    /// pixels that <see cref="ReleaseContext"/> stands for. It is the same function for all pixels, may be called from any thread, native
    /// ones included, ignores the address, and is never freed.
    /// </summary>
    /// <remarks>
    /// Managed code calls <see cref="Dispose"/>: <c>Marshal.GetDelegateForFunctionPointer</c> refuses it, as it does any function that is
    /// a delegate of another type.
    /// </remarks>
    public nint ReleaseFunction => s_releaseFunction;

    /// <summary>
    /// Gets the context for <see cref="ReleaseFunction"/>: a number, not an address, that stands for these pixels and is never used again.
    /// Code that reads it takes over the release: analyzer rules do not ask for <see cref="Dispose"/> then.
    /// </summary>
    public nint ReleaseContext { get; }

    private bool IsReleased => NativeContexts.Find<NativePixels>(ReleaseContext) is null;

    /// <summary>
    /// Releases the pixels: the memory goes back to its source. A second call does nothing, nor does one after
    /// <see cref="ReleaseFunction"/>.
    /// </summary>
    /// <exception cref="MemoryCorruptedException">
    /// In guarded mode, something has written outside the buffer. Released by <see cref="ReleaseFunction"/>, that is only raised as an
    /// event.
    /// </exception>
    public void Dispose()
    {
        if (NativeContexts.TryRemove(ReleaseContext))
        {
            _pin.Dispose();
        }
    }

    /// <summary>Describes the pixels in a line: their size, and whether they have been released.</summary>
    public override string ToString() => Invariant(
        $"{nameof(NativePixels)} {Width} × {Height}, {RowBytes:N0} bytes a row, {(IsReleased ? "released" : "outstanding")}");

    private static void Release(nint address, nint context)
    {
        try
        {
            NativeContexts.Find<NativePixels>(context)?.Dispose();
        }
        catch (Exception)
        {
            // No exception can pass native code. A corruption has been raised as an event, unless there was no managed memory for it.
        }
    }
}
