namespace HeapPerf.Heaps;

/// <summary>
/// Gives and takes blocks of memory. Implemented by structs, so that the compiler makes a batch of its own for each of them,
/// without virtual calls.
/// </summary>
/// <typeparam name="TBlock">What a caller holds; a struct for the same reason.</typeparam>
internal interface IBlockSource<TBlock>
    where TBlock : struct
{
    /// <summary>Allocates a block of <paramref name="sizeInBytes"/> bytes.</summary>
    TBlock Allocate(int sizeInBytes);

    /// <summary>Writes one byte to each page of <paramref name="block"/>.</summary>
    void TouchPages(TBlock block, int sizeInBytes);

    /// <summary>Frees <paramref name="block"/>.</summary>
    void Free(TBlock block);
}
