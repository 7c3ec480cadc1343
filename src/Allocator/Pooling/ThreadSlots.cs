using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// A few blocks for one thread, in front of the free maps: that thread takes and puts them without an interlocked operation.
/// Others may take them all the same, when memory is scarce or lies idle: they revoke the slots for a moment. See <see cref="TryTakeAll"/>.
/// </summary>
internal sealed class ThreadSlots : ThreadShare
{
    /// <summary>How many blocks a thread keeps at most.</summary>
    public const int Capacity = Further + 1;

    private const int Further = 3;

    // In references: what another thread writes to is at least 128 bytes (two cache lines, which processors fetch in pairs) away.
    private const int Padding = 16;

    // How often a look at a thread that is in its slots is repeated; it leaves them within nanoseconds, unless it was interrupted just there. Fewer than make SpinWait sleep.
    private const int Looks = 15;

    // Behind the first, which is all that a thread needs that holds one block at a time.
    private readonly BlockGuard?[] _further = new BlockGuard?[Further + Padding];
    private BlockGuard? _first;
    private Control _control;

    // What Revoked may be.
    private const int Open = 0;
    private const int Kept = 1;
    private const int Robbed = 2;

    // Of whoever revokes.
    private bool _wasRobbed;

    public ThreadSlots(ThreadShares owner)
        : base(owner)
    {
    }

    /// <summary>Gets whether <see cref="Revoke"/> was called and <see cref="Restore"/> was not. pre: called by whoever revokes.</summary>
    public bool IsRevoked => _control.Revoked == Kept;

    /// <summary>Gets whether there seems to be a block. Another thread's look may come early or late.</summary>
    public bool SeemsFilled => Volatile.Read(ref _first) is not null || Volatile.Read(ref _control.FurtherCount) > 0;

    /// <summary>Gets how many blocks there seem to be.</summary>
    public int SeemingCount => (Volatile.Read(ref _first) is null ? 0 : 1) + Volatile.Read(ref _control.FurtherCount);

    /// <summary>Takes the block that was put last, or gives null. pre: called by the thread whose slots these are.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTake()
    {
        if (!TryEnter())
        {
            return null;
        }

        BlockGuard? block = _first;
        if (block is not null)
        {
            _first = null;
        }
        else if (_control.FurtherCount > 0)
        {
            block = TakeFurther();
        }

        Leave();
        return block;
    }

    /// <summary>Puts a block. False where there is no room. pre: called by the thread whose slots these are.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryPut(BlockGuard block)
    {
        if (!TryEnter())
        {
            return false;
        }

        bool hasRoom = true;
        if (_first is null)
        {
            _first = block;
        }
        else
        {
            hasRoom = TryPutFurther(block);
        }

        Leave();
        return hasRoom;
    }

    /// <summary>Begins to keep the thread out. It is out once <see cref="AsymmetricFence.Reach"/> has run and <see cref="TryTakeAll"/> finds it out. pre: one caller at a time.</summary>
    public void Revoke() => Volatile.Write(ref _control.Revoked, Kept);

    /// <summary>Lets the thread in again: at once, or, where blocks were taken from it, when it next finds no block. What it only returns then lies where others find it.</summary>
    public void Restore()
    {
        if (IsRevoked)
        {
            Volatile.Write(ref _control.Revoked, _wasRobbed ? Robbed : Open);
            _wasRobbed = false;
        }
    }

    /// <summary>Opens slots that were robbed: the thread rents, and does not only return. pre: called by the thread whose slots these are.</summary>
    public void Reopen()
    {
        if (Volatile.Read(ref _control.Revoked) == Robbed)
        {
            Interlocked.CompareExchange(ref _control.Revoked, Open, Robbed);
        }
    }

    /// <summary>Takes the blocks that <paramref name="isWanted"/> says. pre: revoked, and the fence has run.</summary>
    /// <param name="taken">Gets the blocks, behind those that are there.</param>
    /// <param name="count">How many are there, then and now.</param>
    /// <param name="hasEnded">Whether the thread is gone: it may have been aborted inside.</param>
    /// <param name="isWanted">Chooses; null for all of them.</param>
    /// <remarks>A thread that is in its slots all the while keeps its blocks: it is using them.</remarks>
    public void TryTakeAll(BlockGuard?[] taken, ref int count, bool hasEnded, Func<BlockGuard, bool>? isWanted)
    {
        SpinWait wait = default;
        while (!hasEnded && Volatile.Read(ref _control.InUse) != 0)
        {
            if (wait.Count >= Looks)
            {
                return;
            }

            wait.SpinOnce();
        }

        if (_first is BlockGuard first && (isWanted is null || isWanted(first)))
        {
            _first = null;
            taken[count++] = first;
        }

        int kept = 0;
        for (int i = 0; i < _control.FurtherCount; i++)
        {
            BlockGuard block = _further[i]!;
            _further[i] = null;
            if (isWanted is null || isWanted(block))
            {
                taken[count++] = block;
            }
            else
            {
                _further[kept++] = block;
            }
        }

        _control.FurtherCount = kept;
        _wasRobbed = _first is null && kept == 0;
    }

    // pre: entered, and there is one.
    private BlockGuard TakeFurther()
    {
        int last = --_control.FurtherCount;
        BlockGuard block = _further[last]!;
        _further[last] = null;
        return block;
    }

    // pre: entered.
    private bool TryPutFurther(BlockGuard block)
    {
        int count = _control.FurtherCount;
        if (count == Further)
        {
            return false;
        }

        _further[count] = block;
        _control.FurtherCount = count + 1;
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryEnter()
    {
        if (AsymmetricFence.Announce(ref _control.InUse, ref _control.Revoked) == Open)
        {
            return true;
        }

        Leave();
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Leave() => AsymmetricFence.Retract(ref _control.InUse);

    [StructLayout(LayoutKind.Sequential, Size = 128)]
    private struct Control
    {
        public int FurtherCount;

        // Written by the thread only.
        public int InUse;

        // Written by whoever revokes only.
        public int Revoked;
    }
}
