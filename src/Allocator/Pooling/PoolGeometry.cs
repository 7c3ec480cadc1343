namespace Allocator.Pooling;

/// <summary>The pool's fixed measures: its blocks, and how many there are at most.</summary>
internal readonly record struct PoolGeometry(int BlockSizeInBytes, int MaximumBlocks)
{
    /// <summary>
    /// The size of a block in bytes: 4 MiB, the figure that the source of this design settled on by measuring a load–resize–save job.
    /// </summary>
    public const int DefaultBlockSizeInBytes = 4 * 1024 * 1024;

    public long MaximumBytes => (long)MaximumBlocks * BlockSizeInBytes;
}
