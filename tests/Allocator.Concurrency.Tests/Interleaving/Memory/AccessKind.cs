namespace Allocator.Concurrency.Interleaving.Memory;

/// <summary>How a thread uses a location.</summary>
internal enum AccessKind
{
    PlainRead,
    PlainWrite,
    AtomicRead,
    AtomicWrite,
}
