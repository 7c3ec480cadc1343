using Allocator.Native;

namespace Allocator.Concurrency.Scenarios;

/// <summary>A source of addresses with nothing behind them, which knows which of them have memory. One arena's worth.</summary>
internal sealed class AddressesOnly : VirtualMemorySource
{
    private const nint First = 1 << 20;

    private readonly BlockLedger _ledger;
    private int _reservations;

    public AddressesOnly(int pages)
        : base(4096) => _ledger = new BlockLedger(pages);

    public int CommittedPages => _ledger.Count;

    public int Reservations => _reservations;

    // As after a first life: nothing is known to be zero, which spares steps.
    public override bool MapsZeroed => false;

    public override nint TryReserve(long lengthInBytes, long partInBytes)
    {
        if (Interlocked.Increment(ref _reservations) != 1)
        {
            // Another thread has just made the one arena that there can be.
            Interlocked.Decrement(ref _reservations);
            return 0;
        }

        return First;
    }

    public override bool TryCommit(nint address, long lengthInBytes, out bool zeroed)
    {
        zeroed = false;
        _ledger.Give(PageOf(address));
        return true;
    }

    public override bool TryPurge(nint address, long lengthInBytes)
    {
        _ledger.Take(PageOf(address));
        return true;
    }

    public override void Free(nint address, long lengthInBytes)
    {
        if (Interlocked.Decrement(ref _reservations) != 0)
        {
            throw new InvalidOperationException("The reservation was released twice.");
        }
    }

    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed) => throw new NotSupportedException();

    public override bool TryProtect(nint address, long lengthInBytes) => false;

    public override bool TryUnprotect(nint address, long lengthInBytes) => false;

    public override bool TryDecommitAndProtect(nint address, long lengthInBytes) => false;

    private static int PageOf(nint address) => (int)((address - First) / 4096);
}
