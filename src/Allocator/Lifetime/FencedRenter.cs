using System;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Rents memory in mappings of their own, between inaccessible pages, and keeps what comes back inaccessible for a while. In Sampled mode that is addresses only; in Guarded mode the memory too,
/// filled with poison, which is verified in the end. Thread-safe; no call to the system is made under its lock.
/// </summary>
internal sealed class FencedRenter
{
    // By one call instead of a fault for each page: measured, 4 MiB rented, cleared and returned take 0.9 ms of processor time in place of 1.7. What a block of the pool is,
    // resident from its first use, too; of more than that the renter may never touch most.
    private const long MostPopulatedInBytes = 4 * 1024 * 1024;

    private readonly VirtualMemorySource _source;
    private readonly LifetimePolicy _policy;
    private readonly ReturnedMemory _returned;
    private readonly bool _isGuarded;
    private readonly int _overreadToleranceInBytes;

    /// <summary>Makes the renter.</summary>
    /// <param name="source">Where mappings come from.</param>
    /// <param name="mode">Sampled or Guarded.</param>
    /// <param name="maximumBytes">The most memory to keep after its return.</param>
    /// <param name="overreadToleranceInBytes">How many bytes behind every buffer are readable before the fence.</param>
    /// <param name="policy">What all guards of the allocator share.</param>
    public FencedRenter(VirtualMemorySource source, SafetyMode mode, long maximumBytes, int overreadToleranceInBytes, LifetimePolicy policy)
    {
        _source = source;
        _policy = policy;
        _overreadToleranceInBytes = overreadToleranceInBytes;
        _isGuarded = mode == SafetyMode.Guarded;
        _returned = _isGuarded ? new ReturnedMemory(256, maximumBytes) : new ReturnedMemory(16, long.MaxValue);
    }

    /// <summary>Takes a mapping from the system, or the one that has been back for longest, and a guard for it.</summary>
    /// <param name="lengthInBytes">The length of the buffer, above 0.</param>
    /// <param name="alignmentInBytes">Its alignment.</param>
    /// <param name="clean">Whether it is going to be cleared: then nothing else is written to it.</param>
    /// <param name="refusals">What the request was refused so far.</param>
    /// <returns>The guard, its rent not begun; null where the system refuses.</returns>
    /// <exception cref="MemoryCorruptedException">Memory that was back had been written to. It is not used again.</exception>
    public FencedGuard? TryRent(long lengthInBytes, int alignmentInBytes, bool clean, ref Refusals refusals)
    {
        if (!NativeMemorySource.IsAddressable(lengthInBytes, IntPtr.Size))
        {
            return null;
        }

        FenceLayout layout = new(lengthInBytes, Math.Max(alignmentInBytes, NativeMemorySource.MinimumAlignment), _source.PageSizeInBytes, _overreadToleranceInBytes);
        FencedMemory? memory = TryTakeReturned(layout);
        bool isReused = memory is not null;
        memory ??= new FencedMemory(layout, _policy.Clock);
        FencedGuard guard = MakeGuard(memory, isReused);
        if (!isReused && !TryMap(memory, ref refusals))
        {
            GC.SuppressFinalize(guard);
            return null;
        }

        guard.Place();
        if (_isGuarded && !clean)
        {
            NativeBytes.Fill(memory.Address, lengthInBytes, FencedMemory.Fresh);
            memory.IsZero = false;
        }

        memory.FillSlack();
        return guard;
    }

    /// <summary>Takes back what was rented. pre: the rent has ended, or never began.</summary>
    /// <param name="memory">The memory, which nobody else holds.</param>
    /// <param name="findings">Gets what is found in memory that has to make room, where somebody wants to know.</param>
    public void TakeBack(FencedMemory memory, CorruptionFindings? findings)
    {
        if (!memory.WasRented || !TryHide(memory))
        {
            Unmap(memory, memory.Layout.CapacityInBytes);
            return;
        }

        if (!_returned.TryAdd(memory))
        {
            Release(memory, findings);
        }

        while (_returned.TryTakeSurplus() is FencedMemory surplus)
        {
            Release(surplus, findings);
        }
    }

    /// <summary>Gives everything back to the system that was kept after its return.</summary>
    public CorruptionFindings ReleaseAll()
    {
        CorruptionFindings findings = new();
        while (_returned.TryTake() is FencedMemory memory)
        {
            Release(memory, findings);
        }

        return findings;
    }

    /// <summary>From here on nothing is kept.</summary>
    public CorruptionFindings Close()
    {
        _returned.Close();
        return ReleaseAll();
    }

    /// <summary>Throws what was found, where this mode throws. pre: everything has been handed back.</summary>
    public void ThrowIfAny(CorruptionFindings findings)
    {
        if (_isGuarded && findings.First is CorruptionEventArgs finding)
        {
            Throw.Corrupted(finding);
        }
    }

    // Before there is memory, where it is new; otherwise failing must not lose it.
    private FencedGuard MakeGuard(FencedMemory memory, bool isReused)
    {
        try
        {
            return new FencedGuard(this, memory, _policy);
        }
        catch when (isReused)
        {
            Unmap(memory, memory.Layout.CapacityInBytes);
            throw;
        }
    }

    private FencedMemory? TryTakeReturned(in FenceLayout layout)
    {
        if (!_isGuarded || _returned.TryTakeFitting(layout) is not FencedMemory memory)
        {
            return null;
        }

        CorruptionFindings findings = new();
        if (!TryUncover(memory, findings))
        {
            ThrowIfAny(findings);
            return null;
        }

        memory.Reuse(layout);
        return memory;
    }

    private bool TryMap(FencedMemory memory, ref Refusals refusals)
    {
        FenceLayout layout = memory.Layout;
        if (!_policy.Budget.TryCommit(layout.CapacityInBytes, ref refusals))
        {
            return false;
        }

        nint address = _source.TryAllocate(layout.TotalInBytes, layout.AlignmentInBytes, out bool zeroed);
        if (address == 0)
        {
            _policy.Budget.CancelCommit(layout.CapacityInBytes);
            return false;
        }

        memory.Place(address, zeroed);
        if (!TryFence(address, layout.FrontInBytes) || !TryFence((nint)(memory.BodyAddress + layout.BodyInBytes), layout.BackInBytes))
        {
            _source.Free(address, layout.TotalInBytes);
            _policy.Budget.CancelCommit(layout.CapacityInBytes);
            return false;
        }

        _policy.Budget.NoteCommitted(memory.BodyAddress, layout.CapacityInBytes);
        _policy.Counters.AddCommitted(layout.CapacityInBytes);
        if (layout.BodyInBytes <= MostPopulatedInBytes)
        {
            _source.Populate(memory.BodyAddress, layout.BodyInBytes);
        }

        return true;
    }

    // Where all memory of the process is locked, none can be given back; but it can be made inaccessible.
    private bool TryFence(nint address, long lengthInBytes) => _source.TrySealEmpty(address, lengthInBytes) || _source.TrySeal(address, lengthInBytes);

    // Makes returned memory inaccessible. False where that cannot be: there is no point in keeping it then.
    private bool TryHide(FencedMemory memory)
    {
        FenceLayout layout = memory.Layout;
        if (!_isGuarded)
        {
            _policy.Budget.NoteReleasing(memory.BodyAddress);
            if (!_source.TrySealEmpty(memory.BodyAddress, layout.BodyInBytes))
            {
                return false;
            }

            _policy.NoteFreed(layout.CapacityInBytes);
            return true;
        }

        if (!_returned.HasRoomFor(layout.BodyInBytes))
        {
            return false;
        }

        memory.FillWithPoison();
        if (!_source.TrySeal(memory.BodyAddress, layout.BodyInBytes))
        {
            return false;
        }

        _policy.Counters.MappingEnteredQuarantine(layout.CapacityInBytes);
        return true;
    }

    // The other way, with a look at the poison. Where either fails the memory goes to the system.
    private bool TryUncover(FencedMemory memory, CorruptionFindings? findings)
    {
        FenceLayout layout = memory.Layout;
        _policy.Counters.MappingLeftQuarantine(layout.CapacityInBytes);
        CorruptionEventArgs? finding = null;
        bool isAccessible = _source.TryUnseal(memory.BodyAddress, layout.BodyInBytes);
        if (isAccessible)
        {
            finding = memory.FindBrokenPoison();
            findings?.Add(finding);
        }

        if (!isAccessible || finding is not null)
        {
            Unmap(memory, layout.CapacityInBytes);
            return false;
        }

        return true;
    }

    private void Release(FencedMemory memory, CorruptionFindings? findings)
    {
        if (!_isGuarded)
        {
            Unmap(memory, committedBytes: 0);
        }
        else if (TryUncover(memory, findings))
        {
            Unmap(memory, memory.Layout.CapacityInBytes);
        }
    }

    private void Unmap(FencedMemory memory, long committedBytes)
    {
        _policy.Budget.NoteReleasing(memory.BodyAddress);
        _source.Free(memory.MappingAddress, memory.Layout.TotalInBytes);
        _policy.NoteFreed(committedBytes);
        memory.EndRecord();
    }
}
