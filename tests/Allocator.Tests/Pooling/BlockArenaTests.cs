using Allocator.Pooling;

namespace Allocator.Tests.Pooling;

public class BlockArenaTests
{
    // Two cache lines, which processors fetch in pairs.
    private const int PairOfLines = 128;

    // Each rent writes its record. Where anything that another thread reads at each rent lay between two records, two threads took each
    // other's lines: 1.9 times the time of one, in some processes and not in others.
    [Fact]
    public void Constructor_Always_PutsEachRecordDirectlyBehindTheOneBefore()
    {
        using TestPool test = new(BlockArena.MaximumBlocks);
        test.RentAndReturn(1);
        BlockRecord[] records = test.Pool.Arenas[0].Records;
        int beside = 0;
        for (int i = 1; i < records.Length; i++)
        {
            // In one expression: a collection between two looks could move one of them.
            nint distance = Unsafe.ByteOffset(ref records[i - 1].State, ref records[i].State);
            beside += distance == PairOfLines ? 1 : 0;
        }

        // A thread's part of the managed heap ends anywhere, and another begins elsewhere.
        Assert.InRange(beside, records.Length - 4, records.Length - 1);
    }
}
