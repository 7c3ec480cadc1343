namespace Allocator.Analyzers.Symbols;

/// <summary>The metadata names that the analyzer resolves or compares.</summary>
internal static class KnownNames
{
    public const string MemoryAllocator = "Allocator.MemoryAllocator";
    public const string OwnedBufferAttribute = "Allocator.OwnedBufferAttribute";
    public const string BorrowedAttribute = "Allocator.BorrowedAttribute";
    public const string MemoryOwner = "System.Buffers.IMemoryOwner`1";
    public const string Memory = "System.Memory`1";
    public const string ReadOnlyMemory = "System.ReadOnlyMemory`1";
    public const string ArraySegment = "System.ArraySegment`1";
    public const string MemoryHandle = "System.Buffers.MemoryHandle";
    public const string Sequence = "System.Buffers.ReadOnlySequence`1";
    public const string Stream = "System.IO.Stream";
    public const string MemoryStream = "System.IO.MemoryStream";
    public const string UnmanagedMemoryStream = "System.IO.UnmanagedMemoryStream";
    public const string Task = "System.Threading.Tasks.Task";
    public const string TaskOfResult = "System.Threading.Tasks.Task`1";
    public const string ValueTask = "System.Threading.Tasks.ValueTask";
    public const string ValueTaskOfResult = "System.Threading.Tasks.ValueTask`1";
}
