using System.Buffers;

namespace HeapPerf.Heaps;

/// <summary>A buffer of this library.</summary>
internal readonly record struct OwnerBlock(IMemoryOwner<byte> Owner);
