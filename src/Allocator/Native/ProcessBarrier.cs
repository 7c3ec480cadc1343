namespace Allocator.Native;

/// <summary>
/// For a thread that writes one thing and then reads another, often, and a thread that writes the other and then reads the one, seldom: at
/// least one of them sees what the other wrote. The seldom one pays for both, by a barrier on all processors.
/// </summary>
internal static class ProcessBarrier
{
#if NET
    /// <summary>Writes what the other thread reads after <see cref="Flush"/>, or this one reads next what that has written.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Publish(ref long location, long value) => Volatile.Write(ref location, value);

    /// <summary>Called between the write and the read.</summary>
    public static void Flush() => Interlocked.MemoryBarrierProcessWide();
#else
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Publish(ref long location, long value) => Interlocked.Exchange(ref location, value);

    public static void Flush() => Interlocked.MemoryBarrier();
#endif
}
