using System.Diagnostics;
using HeapPerf.Heaps;

namespace HeapPerf.Batches;

/// <summary>A worker that keeps what it holds in an array, and frees the last block first.</summary>
/// <typeparam name="TBlock">What it holds.</typeparam>
/// <typeparam name="TSource">Where it comes from.</typeparam>
internal sealed class BlockBatchWorker<TBlock, TSource> : BatchWorker
    where TBlock : struct
    where TSource : struct, IBlockSource<TBlock>
{
    private readonly TSource _source;
    private readonly SizeClass _class;
    private readonly TBlock[] _blocks;

    /// <summary>Prepares batches of <paramref name="sizeClass"/> from <paramref name="source"/>.</summary>
    public BlockBatchWorker(TSource source, SizeClass sizeClass)
    {
        _source = source;
        _class = sizeClass;
        _blocks = new TBlock[sizeClass.Blocks];
    }

    /// <inheritdoc/>
    protected override long RunBatch()
    {
        TSource source = _source;
        TBlock[] blocks = _blocks;
        int size = _class.SizeInBytes;
        bool touch = _class.IsTouched;
        for (int i = 0; i < blocks.Length; i++)
        {
            TBlock block = source.Allocate(size);
            if (touch)
            {
                source.TouchPages(block, size);
            }

            blocks[i] = block;
        }

        long middle = Stopwatch.GetTimestamp();
        for (int i = blocks.Length - 1; i >= 0; i--)
        {
            source.Free(blocks[i]);
        }

        return middle;
    }
}
