namespace Allocator.Native;

/// <summary>Chooses the source for a kind of memory.</summary>
internal static class NativeMemorySources
{
    public static NativeMemorySource Create(NativeMemoryKind kind, HugePages hugePages) => kind switch
    {
        NativeMemoryKind.Heap => new HeapMemorySource(),
        NativeMemoryKind.HGlobal => new HGlobalMemorySource(),
        NativeMemoryKind.CoTaskMem => new CoTaskMemorySource(),
        _ => VirtualMemorySource.Create(hugePages),
    };
}
