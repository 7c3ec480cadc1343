using System;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Blocks with addresses and nothing behind them.</summary>
internal sealed class NumberedStorage : BlockStorage
{
    private readonly BlockLedger _ledger;
    private int _released;

    public NumberedStorage(int blocks) => _ledger = new BlockLedger(blocks);

    public override bool IsContiguous => true;

    public int CommittedCount => _ledger.Count;

    public bool IsReleased => _released != 0;

    public override nint TryCommit(int index, out bool zeroed)
    {
        _ledger.Give(index);
        zeroed = false;
        return (index + 1) * 4096;
    }

    public override bool TryPurge(int index, nint address)
    {
        _ledger.Take(index);
        return true;
    }

    public override void Prefault(nint address)
    {
    }

    public override void Release()
    {
        if (Interlocked.Exchange(ref _released, 1) != 0)
        {
            throw new InvalidOperationException("The arena was released twice.");
        }
    }
}
