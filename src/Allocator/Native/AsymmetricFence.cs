using System.Runtime.CompilerServices;
using System.Threading;

namespace Allocator.Native;

/// <summary>
/// Orders "say that I am in, then look whether I was told to stay out" against "tell them to stay out, then look whether they are in", so that one of the two sees the other.
/// It takes a fence between write and read on both sides. Here the frequent side pays nothing: the rare one runs a fence on all processors that run this process.
/// </summary>
internal static class AsymmetricFence
{
#if NETSTANDARD
    /// <summary>The frequent side: writes 1 to a flag, and then reads what it was told.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Announce(ref int flag, ref int told)
    {
        Interlocked.Exchange(ref flag, 1);
        return Volatile.Read(ref told);
    }

    /// <summary>The frequent side: writes 0 to the flag, after whatever it wrote and before whatever it reads next.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Retract(ref int flag) => Interlocked.Exchange(ref flag, 0);

    /// <summary>The rare side: what was written before is seen by all, and what they announced before is seen here.</summary>
    public static void Reach() => Interlocked.MemoryBarrier();
#else
    /// <summary>The frequent side: writes 1 to a flag, and then reads what it was told. The compiler keeps volatile accesses in order; the processor need not.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Announce(ref int flag, ref int told)
    {
        Volatile.Write(ref flag, 1);
        return Volatile.Read(ref told);
    }

    /// <summary>The frequent side: writes 0 to the flag, after whatever it wrote and before whatever it reads next.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Retract(ref int flag) => Volatile.Write(ref flag, 0);

    /// <summary>The rare side: what was written before is seen by all, and what they announced before is seen here. A system call of some microseconds.</summary>
    public static void Reach() => Interlocked.MemoryBarrierProcessWide();
#endif
}
