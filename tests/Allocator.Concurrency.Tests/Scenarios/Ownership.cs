namespace Allocator.Concurrency.Scenarios;

/// <summary>
/// Who has which block: fails as soon as one is in two hands. Taking and giving are steps of the schedule, or the search would not know
/// that their order matters.
/// </summary>
internal sealed class Ownership
{
    private readonly int[] _hands;

    public Ownership(int blocks) => _hands = new int[blocks];

    public void Take(int first, int count)
    {
        for (int i = first; i < first + count; i++)
        {
            if (Interlocked.Increment(ref _hands[i]) != 1)
            {
                throw new InvalidOperationException($"Block {i} is in two hands.");
            }
        }
    }

    public void Give(int first, int count)
    {
        for (int i = first; i < first + count; i++)
        {
            if (Interlocked.Decrement(ref _hands[i]) != 0)
            {
                throw new InvalidOperationException($"Block {i} is returned by a thread that does not hold it.");
            }
        }
    }
}
