using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Threading;

namespace Allocator.Adapters;

/// <summary>
/// All pixels that native code has, by number. It keeps them reachable until they are released; and a number that is given back a second
/// time stands for nothing, where a handle would stand for somebody else's object.
/// </summary>
internal static class HandedOffPixels
{
    private static readonly ConcurrentDictionary<nint, NativePixels> s_pixels = new();

    // Kept for ever: native code may call it at any time.
    private static readonly ReleaseCallback s_release = Release;
    private static long s_last;

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate void ReleaseCallback(nint address, nint context);

    /// <summary>Gets the address of the function that releases pixels by their number.</summary>
    public static nint ReleaseFunction { get; } = Marshal.GetFunctionPointerForDelegate(s_release);

    /// <summary>Adds pixels.</summary>
    /// <returns>Their number, never 0.</returns>
    public static nint Add(NativePixels pixels)
    {
        nint number;
        do
        {
            // With 32 bits numbers come round again, after four billion.
            number = unchecked((nint)Interlocked.Increment(ref s_last));
        }
        while (number == 0 || !s_pixels.TryAdd(number, pixels));

        return number;
    }

    public static bool Contains(nint number) => s_pixels.ContainsKey(number);

    /// <summary>Removes pixels.</summary>
    /// <returns>True for the one caller who is to release them.</returns>
    public static bool TryRemove(nint number) => s_pixels.TryRemove(number, out _);

    private static void Release(nint address, nint context)
    {
        if (!s_pixels.TryGetValue(context, out NativePixels? pixels))
        {
            return;
        }

        try
        {
            pixels.Dispose();
        }
        catch (MemoryCorruptedException)
        {
            // No exception can pass native code, and this one has been raised as an event.
        }
    }
}
