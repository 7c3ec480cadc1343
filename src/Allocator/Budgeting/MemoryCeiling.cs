using System;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// How much memory may be held at once: what the system has given and what is out of the array pool. It is asked before the system is, so what is held is never above it.
/// </summary>
/// <remarks>
/// The budget lets no more out than this, so what a request lacks here lies idle, or is in the hand of a trimmer: whoever is refused gives idle memory back and tries again.
/// </remarks>
internal sealed class MemoryCeiling
{
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static long t_refusedBytes;
#pragma warning restore IDE1006

    private readonly long _limitInBytes;
    private long _heldBytes;

    public MemoryCeiling(long limitInBytes) => _limitInBytes = limitInBytes;

    private bool IsUnlimited => _limitInBytes == long.MaxValue;

    /// <summary>Gets whether a ceiling refused memory on this thread since <see cref="BeginAttempt"/>.</summary>
    public static bool WasRefused => t_refusedBytes != 0;

    /// <summary>Gets the least that was refused on this thread since <see cref="BeginAttempt"/>: with so much more, the attempt would have succeeded.</summary>
    public static long RefusedBytes => t_refusedBytes;

    /// <summary>Forgets what was refused before.</summary>
    public static void BeginAttempt() => t_refusedBytes = 0;

    /// <summary>Counts bytes as held, unless they are too many.</summary>
    public bool TryHold(long bytes)
    {
        if (IsUnlimited || BoundedSum.TryAdd(ref _heldBytes, bytes, _limitInBytes))
        {
            return true;
        }

        t_refusedBytes = t_refusedBytes == 0 ? bytes : Math.Min(t_refusedBytes, bytes);
        return false;
    }

    /// <summary>Counts bytes as no longer held. pre: they have gone.</summary>
    public void Release(long bytes)
    {
        if (bytes != 0 && !IsUnlimited)
        {
            Interlocked.Add(ref _heldBytes, -bytes);
        }
    }

    /// <summary>Gives how many bytes others have to give back before so many more can be held; 0 or less where that is so already.</summary>
    public long ShortageOf(long bytes) => bytes - (_limitInBytes - Volatile.Read(ref _heldBytes));
}
