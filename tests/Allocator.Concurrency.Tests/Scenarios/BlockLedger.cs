namespace Allocator.Concurrency.Scenarios;

/// <summary>Which blocks have memory. Fails where memory is given or taken twice; changes are steps of the schedule.</summary>
internal sealed class BlockLedger
{
    private readonly int[] _given;

    public BlockLedger(int blocks) => _given = new int[blocks];

    public int Count
    {
        get
        {
            int count = 0;
            foreach (int given in _given)
            {
                count += given;
            }

            return count;
        }
    }

    public void Give(int block) => Expect(Interlocked.Exchange(ref _given[block], 1) == 0, block, "was given memory that has some");

    public void Take(int block) => Expect(Interlocked.Exchange(ref _given[block], 0) == 1, block, "lost memory that has none");

    private static void Expect(bool condition, int block, string otherwise)
    {
        if (!condition)
        {
            throw new InvalidOperationException($"Block {block} {otherwise}.");
        }
    }
}
