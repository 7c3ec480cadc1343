using Interleaving.Atomics;

namespace Allocator.Native;

/// <summary>In place of the library's: on its frequent side the processor may read before others see what it wrote.</summary>
internal static class AsymmetricFence
{
    public static int Announce(ref int flag, ref int told) => StoreBuffer.WriteThenRead(ref flag, 1, ref told);

    public static void Retract(ref int flag) => Volatile.Write(ref flag, 0);

    public static void Reach() => Interlocked.MemoryBarrierProcessWide();
}
