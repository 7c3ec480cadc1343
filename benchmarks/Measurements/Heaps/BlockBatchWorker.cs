using Measuring.Sources;

namespace Measurements.Heaps;

/// <summary>A worker that keeps what it holds in an array, and frees the last block first.</summary>
internal sealed class BlockBatchWorker<TSource, THeld>(TSource source, SizeClass sizeClass) : BatchWorker
    where TSource : struct, IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    private readonly TSource _source = source;
    private readonly THeld[] _blocks = new THeld[sizeClass.Blocks];

    public override long RunBatch()
    {
        TSource source = _source;
        THeld[] blocks = _blocks;
        int size = sizeClass.SizeInBytes;
        bool touch = sizeClass.IsTouched;
        for (int i = 0; i < blocks.Length; i++)
        {
            THeld block = source.Allocate(size);
            if (touch)
            {
                PageTouch.Write(block.GetBytes(size));
            }

            blocks[i] = block;
        }

        long middle = Stopwatch.GetTimestamp();
        for (int i = blocks.Length - 1; i >= 0; i--)
        {
            source.Free(blocks[i], size);
        }

        return middle;
    }
}
