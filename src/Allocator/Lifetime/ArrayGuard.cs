using System;
using System.Buffers;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Guards an array of <see cref="ArrayPool{T}.Shared"/>. It has no finalizer: an abandoned array is collected, and a span into it keeps it alive.
/// Guards are kept by the thread that returned them, for its next rents, of whichever allocator.
/// </summary>
internal sealed class ArrayGuard : LifetimeGuard
{
    private const int KeptPerThread = 16;

    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static Cache? t_cache;
#pragma warning restore IDE1006

    private ArrayCounters? _counters;
    private bool _clearOnReturn;

    private ArrayGuard()
        : base(new GuardRecord[1], 0)
    {
    }

    /// <summary>Rents an array of at least that many bytes, and a guard for it. The rent has not begun.</summary>
    public static ArrayGuard Rent(int lengthInBytes, ArrayCounters counters, bool clean, bool clearOnReturn)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(lengthInBytes);
        if (clean)
        {
            array.AsSpan(0, lengthInBytes).Clear();
        }

        Cache cache = t_cache ??= new Cache();
        ArrayGuard guard = cache.Count > 0 ? cache.Guards[--cache.Count]! : new ArrayGuard();
        guard.Array = array;
        guard._counters = counters;
        guard._clearOnReturn = clearOnReturn;
        counters.OfThisThread().CountRent(array.Length);
        return guard;
    }

    protected override void GiveBack()
    {
        byte[] array = Array!;
        _counters!.OfThisThread().CountReturn(array.Length);
        Array = null;
        _counters = null;
        ArrayPool<byte>.Shared.Return(array, _clearOnReturn);

        Cache cache = t_cache ??= new Cache();
        if (cache.Count < KeptPerThread)
        {
            cache.Guards[cache.Count++] = this;
        }
    }

    private sealed class Cache
    {
        public readonly ArrayGuard?[] Guards = new ArrayGuard?[KeptPerThread];
        public int Count;
    }
}
