using System;
using Allocator;
using Allocator.Native;

namespace Decisions.Trimming;

/// <summary>The system's memory, with a word to somebody whenever a block gets some or gives it up.</summary>
internal sealed class ObservedSource : VirtualMemorySource
{
    // As in an allocator by default.
    private const int OverreadTolerance = 64;

    private readonly VirtualMemorySource _system;
    private readonly Action _committed;
    private readonly Action _purged;

    private ObservedSource(VirtualMemorySource system, Action committed, Action purged)
        : base(system.PageSizeInBytes)
    {
        _system = system;
        _committed = committed;
        _purged = purged;
    }

    /// <inheritdoc/>
    public override bool MapsZeroed => _system.MapsZeroed;

    /// <summary>Makes a source for this system.</summary>
    public static ObservedSource Create(Action committed, Action purged) => new(Create(HugePages.Auto, OverreadTolerance), committed, purged);

    /// <inheritdoc/>
    public override bool TryCommit(nint address, long lengthInBytes, out bool zeroed)
    {
        bool done = _system.TryCommit(address, lengthInBytes, out zeroed);
        if (done)
        {
            _committed();
        }

        return done;
    }

    /// <inheritdoc/>
    public override bool TryPurge(nint address, long lengthInBytes)
    {
        bool done = _system.TryPurge(address, lengthInBytes);
        if (done)
        {
            _purged();
        }

        return done;
    }

    /// <inheritdoc/>
    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed) => _system.TryAllocate(lengthInBytes, alignmentInBytes, out zeroed);

    /// <inheritdoc/>
    public override nint TryReserve(long lengthInBytes, long partInBytes) => _system.TryReserve(lengthInBytes, partInBytes);

    /// <inheritdoc/>
    public override void Prefault(nint address, long lengthInBytes) => _system.Prefault(address, lengthInBytes);

    /// <inheritdoc/>
    public override bool TryProtect(nint address, long lengthInBytes) => _system.TryProtect(address, lengthInBytes);

    /// <inheritdoc/>
    public override bool TryUnprotect(nint address, long lengthInBytes) => _system.TryUnprotect(address, lengthInBytes);

    /// <inheritdoc/>
    public override bool TryDecommitAndProtect(nint address, long lengthInBytes) => _system.TryDecommitAndProtect(address, lengthInBytes);

    /// <inheritdoc/>
    protected override bool TryFree(nint address, long lengthInBytes)
    {
        _system.Free(address, lengthInBytes);
        return true;
    }

    /// <inheritdoc/>
    protected override bool TryRelease(nint address, long lengthInBytes)
    {
        _system.Release(address, lengthInBytes);
        return true;
    }
}
