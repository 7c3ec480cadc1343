namespace Allocator.Native;

/// <summary>
/// For two threads of which each writes a word of its own and then reads that of the other: at least one sees what the other wrote. One
/// does so often, and needs no barrier (<see cref="Publish"/>); the other seldom, and has one run on all processors.
/// </summary>
internal static class ProcessBarrier
{
#if NET
    /// <summary>Writes the word of the frequent thread, which then reads that of the other.</summary>
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
