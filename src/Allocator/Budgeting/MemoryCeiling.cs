using System;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// How much memory may be held at once: what the system has given and what is out of the array pool. It is asked before the system is, so what is held is never above it; nor is more granted than the container certainly has.
/// </summary>
/// <remarks>
/// The budget lets no more out than this, so what a request lacks here lies idle, or is in the hand of a trimmer: whoever is refused gives idle memory back and tries again.
/// </remarks>
internal sealed class MemoryCeiling
{
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static Attempt t_attempt;
#pragma warning restore IDE1006

    private readonly long _limitInBytes;
    private readonly ProcessHeadroom? _headroom;
    private readonly long _minimumFreeBytes;
    private readonly bool _honorsLimit;
    private long _heldBytes;

    /// <summary>Makes a ceiling.</summary>
    /// <param name="limitInBytes">The most that may be held; <see cref="long.MaxValue"/> for no limit.</param>
    /// <param name="headroom">What the container has left; null where nobody asks.</param>
    /// <param name="minimumFreeBytes">What of it idle memory makes room for.</param>
    /// <param name="honorsLimit">Whether what certainly does not fit is refused.</param>
    public MemoryCeiling(long limitInBytes, ProcessHeadroom? headroom = null, long minimumFreeBytes = 0, bool honorsLimit = false)
    {
        _limitInBytes = limitInBytes;
        _headroom = headroom;
        _minimumFreeBytes = minimumFreeBytes;
        _honorsLimit = honorsLimit;
    }

    /// <summary>Gets whether memory was refused on this thread since <see cref="BeginAttempt"/>.</summary>
    public static bool WasRefused => t_attempt.RefusedBytes != 0;

    /// <summary>Gets whether it was refused because the container has none left, rather than because of the limit of this ceiling.</summary>
    public static bool WasRefusedByContainer => t_attempt.IsByContainer;

    /// <summary>Gets the least that was refused on this thread since <see cref="BeginAttempt"/>: with so much more, the attempt would have succeeded.</summary>
    public static long RefusedBytes => t_attempt.RefusedBytes;

    /// <summary>Gets what is held; 0 where nobody asks.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    private bool IsCounted => _limitInBytes != long.MaxValue || _minimumFreeBytes > 0;

    /// <summary>Forgets what was refused before.</summary>
    /// <param name="isFirst">Whether idle memory has not been given back for this request yet.</param>
    public static void BeginAttempt(bool isFirst) => t_attempt = new Attempt { IsFirst = isFirst };

    /// <summary>Counts bytes as held that are about to be committed, unless they are too many, or the container has none left. <see cref="Commit"/> or <see cref="Cancel"/> has to follow.</summary>
    public bool TryHold(long bytes)
    {
        if (!TryHoldUncommitted(bytes))
        {
            return false;
        }

        if (!TryGrant(bytes))
        {
            Release(bytes);
            return Refuse(bytes, byContainer: true);
        }

        return true;
    }

    /// <summary>Gives whether the container has so much left: asked for a whole request before its first piece is taken, so that requests do not wait for each other's pieces.</summary>
    public bool MayHold(long bytes)
    {
        bool mayHold = TryGrant(bytes);
        if (mayHold)
        {
            _headroom?.Cancel(bytes);
        }

        return mayHold || Refuse(bytes, byContainer: true);
    }

    /// <summary>
    /// Counts bytes as held that others are about to take, unless they are too many, or without a budget or minimum the container certainly has none left. <see cref="ReleaseAnnounced"/> has to follow.
    /// </summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="announcement">What to release it by.</param>
    public bool TryHoldAnnounced(long bytes, out long announcement)
    {
        announcement = 0;
        if (bytes == 0)
        {
            return true;
        }

        if (!TryHoldUncommitted(bytes))
        {
            return false;
        }

        // Where there is one the job has been admitted with them.
        if (_headroom is not null && !_headroom.TryAnnounce(bytes, _honorsLimit && !IsCounted, out announcement))
        {
            Release(bytes);
            return Refuse(bytes, byContainer: true);
        }

        return true;
    }

    /// <summary>Counts bytes as no longer held that others had announced.</summary>
    public void ReleaseAnnounced(long bytes, long announcement)
    {
        _headroom?.Withdraw(announcement);
        Release(bytes);
    }

    /// <summary>Notes that the system has given what was held for it.</summary>
    /// <param name="address">Where; 0 for a managed array.</param>
    /// <param name="bytes">The bytes, or a part of them.</param>
    public void Commit(nint address, long bytes) => _headroom?.Commit(address, bytes);

    /// <summary>Counts bytes as no longer held that the system did not give.</summary>
    public void Cancel(long bytes)
    {
        _headroom?.Cancel(bytes);
        Release(bytes);
    }

    /// <summary>Notes that memory is about to go back to the system.</summary>
    public void Forget(nint address) => _headroom?.Forget(address);

    /// <summary>Counts bytes as no longer held. pre: they have gone.</summary>
    public void Release(long bytes)
    {
        if (bytes != 0)
        {
            _headroom?.NoteFreed();
            if (IsCounted)
            {
                Interlocked.Add(ref _heldBytes, -bytes);
            }
        }
    }

    /// <summary>Gives how many bytes others have to give back before so many more can be held; 0 or less where that is so already.</summary>
    public long ShortageOf(long bytes) => bytes - (_limitInBytes - HeldBytes);

    private bool TryHoldUncommitted(long bytes) =>
        !IsCounted || BoundedSum.TryAdd(ref _heldBytes, bytes, _limitInBytes) || Refuse(bytes, byContainer: false);

    private bool TryGrant(long bytes) => _headroom is null || _headroom.TryGrant(bytes, t_attempt.IsFirst ? _minimumFreeBytes : 0, _honorsLimit, isAdmitted: IsCounted);

    private static bool Refuse(long bytes, bool byContainer)
    {
        ref Attempt attempt = ref t_attempt;
        attempt.RefusedBytes = attempt.RefusedBytes == 0 ? bytes : Math.Min(attempt.RefusedBytes, bytes);
        attempt.IsByContainer = byContainer;
        return false;
    }

    private struct Attempt
    {
        public long RefusedBytes;
        public bool IsByContainer;
        public bool IsFirst;
    }
}
