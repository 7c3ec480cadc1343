namespace Allocator.Native;

/// <summary>Chooses the source for a kind of memory.</summary>
internal static class NativeMemorySources
{
    public static NativeMemorySource Create(NativeMemoryKind kind, HugePages hugePages, int overreadToleranceInBytes = 0) => kind switch
    {
        NativeMemoryKind.Heap => new HeapMemorySource(overreadToleranceInBytes),
        NativeMemoryKind.HGlobal => new HGlobalMemorySource(overreadToleranceInBytes),
        NativeMemoryKind.CoTaskMem => new CoTaskMemorySource(overreadToleranceInBytes),
        _ => VirtualMemorySource.Create(hugePages, overreadToleranceInBytes),
    };
}
