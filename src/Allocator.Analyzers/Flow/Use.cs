using Allocator.Analyzers.Lattice;

namespace Allocator.Analyzers.Flow;

/// <summary>A place where memory is touched, with what was known of its owners at that moment (not at the end of the statement).</summary>
internal readonly struct Use
{
    public Use(IOperation operation, ulong raw, ulong kept, FlowState state)
    {
        Operation = operation;
        Raw = raw;
        PossiblyDisposed = state.Disposed;
        ulong disposed = state.SurelyDisposed & ~state.OwnerEscaped & ~state.Pinned;
        AfterDispose = disposed & (kept | (raw & ~state.Escaped));
    }

    public IOperation Operation { get; }

    /// <summary>Gets the owners whose memory is touched through a span, ref or pointer, which does not keep them.</summary>
    public ulong Raw { get; }

    public ulong PossiblyDisposed { get; }

    /// <summary>Gets the owners that are disposed on every path to this use.</summary>
    public ulong AfterDispose { get; }
}
