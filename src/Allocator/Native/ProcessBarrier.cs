namespace Allocator.Native;

/// <summary>
/// A barrier for two threads that each write a word of their own and then read the other's: at least one sees the other's write. One
/// thread does so often, and needs no barrier (<see cref="Publish"/>). The other does so seldom, and runs a barrier on all processors.
/// </summary>
internal static class ProcessBarrier
{
#if NET
    /// <summary>Writes the frequent thread's word. That thread then reads the other's word.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Publish(ref long location, long value) => Volatile.Write(ref location, value);

    /// <summary>Called by the other thread between its write and its read.</summary>
    public static void Flush() => Interlocked.MemoryBarrierProcessWide();
#else
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Publish(ref long location, long value) => Interlocked.Exchange(ref location, value);

    public static void Flush() => Interlocked.MemoryBarrier();
#endif
}
