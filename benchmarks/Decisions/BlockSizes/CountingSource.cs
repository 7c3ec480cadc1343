using Allocator;
using Allocator.Native;

namespace Decisions.BlockSizes;

/// <summary>The system's memory, and how often it was asked for some beside the pool.</summary>
internal sealed class CountingSource : VirtualMemorySource
{
    // As in an allocator by default.
    private const int OverreadTolerance = 64;

    private readonly VirtualMemorySource _system;

    private CountingSource(VirtualMemorySource system)
        : base(system.PageSizeInBytes) => _system = system;

    /// <summary>Gets the number of mappings that were made for requests which the pool did not serve.</summary>
    public long Mappings { get; private set; }

    /// <inheritdoc/>
    public override bool MapsZeroed => _system.MapsZeroed;

    /// <summary>Makes a source for this system.</summary>
    public static CountingSource Create() => new(Create(HugePages.Auto, OverreadTolerance));

    /// <inheritdoc/>
    public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed)
    {
        Mappings++;
        return _system.TryAllocate(lengthInBytes, alignmentInBytes, out zeroed);
    }

    /// <inheritdoc/>
    public override nint TryReserve(long lengthInBytes, long partInBytes) => _system.TryReserve(lengthInBytes, partInBytes);

    /// <inheritdoc/>
    public override bool TryCommit(nint address, long lengthInBytes, out bool zeroed) => _system.TryCommit(address, lengthInBytes, out zeroed);

    /// <inheritdoc/>
    public override bool TryPurge(nint address, long lengthInBytes) => _system.TryPurge(address, lengthInBytes);

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
