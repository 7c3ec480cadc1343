using System;
using Allocator.Allocators;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>
/// A part of an allocator's memory budget, taken for a whole job before it starts, and itself an allocator: hand it to any code that takes one. What is allocated from it counts against it and comes back
/// to it. What exceeds it waits for the budget, or throws, like any other request.
/// </summary>
/// <remarks>
/// Made by <see cref="MemoryAllocator.ReserveAsync"/>. Thread-safe. Its memory is the parent's: blocks, statistics and trimming are shared. Where all that is out belongs to reservations that wait for more, none
/// could ever go on: the youngest then fails with a <see cref="MemoryLimitExceededException"/> that says so. Without a budget it counts and limits nothing.
/// </remarks>
public sealed class MemoryReservation : MemoryAllocator
{
    private readonly MemoryAllocator _parent;
    private readonly ReservationAccount _account;

    internal MemoryReservation(MemoryAllocator parent, ReservationAccount account)
    {
        _parent = parent;
        _account = account;
    }

    /// <summary>Gives the unused part back where nobody disposed the reservation: it would be kept from everybody for ever.</summary>
    // What is out of it knows the account, not this object.
    ~MemoryReservation() => _account?.CloseLater();

    /// <summary>Gets what was reserved, in bytes.</summary>
    public long ReservedBytes => _account.ReservedBytes;

    /// <summary>Gets what can still be allocated without waiting, in bytes of capacity: 0 when all is out, and after <see cref="Dispose"/>.</summary>
    public long RemainingBytes => _account.RemainingBytes;

    internal override BudgetAccount? Account => _account;

    /// <inheritdoc/>
    public override void Prewarm(long bytes)
    {
        ThrowIfDisposed();
        _parent.Prewarm(bytes);
    }

    /// <summary>Gives all idle memory of the parent back to the operating system now. What is out stays valid.</summary>
    public override void ReleaseRetainedResources() => _parent.ReleaseRetainedResources();

    /// <summary>Reads what the parent holds and has done; the reservation has no memory of its own.</summary>
    public override MemoryAllocatorStatistics GetStatistics() => _parent.GetStatistics();

    /// <inheritdoc/>
    public override MemoryLoad GetMemoryLoad() => _parent.GetMemoryLoad();

    /// <summary>Gives the unused part back to the budget. What is out stays valid, counts against the budget, and goes back to it when it is disposed. New requests throw, and those that wait. A second call does nothing.</summary>
    public override void Dispose()
    {
        GC.SuppressFinalize(this);
        _account.Close();
    }

    /// <inheritdoc/>
    public override string ToString() => $"{nameof(MemoryReservation)} of {ReservedBytes} bytes from {_parent}";

    internal override LifetimeGuard RentContiguous(long lengthInBytes, int alignmentInBytes, AllocationOptions options, out long generation)
    {
        LifetimeGuard guard = GetRouter().RentContiguous(_account, lengthInBytes, alignmentInBytes, options, out generation);

        // Not before: the collection that is asked for while this waits would close the account.
        GC.KeepAlive(this);
        return guard;
    }

    internal override RequestRouter GetRouter()
    {
        ThrowIfDisposed();
        return _parent.GetRouter();
    }

    private void ThrowIfDisposed()
    {
        if (_account.IsClosed)
        {
            Throw.Disposed(nameof(MemoryReservation));
        }
    }
}
