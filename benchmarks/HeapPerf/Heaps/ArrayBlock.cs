namespace HeapPerf.Heaps;

/// <summary>An array from a pool.</summary>
internal readonly record struct ArrayBlock(byte[] Array);
