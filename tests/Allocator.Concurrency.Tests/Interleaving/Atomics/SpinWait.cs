namespace Allocator.Concurrency.Interleaving.Atomics;

/// <summary>
/// Stands in for <see cref="System.Threading.SpinWait"/>: who waits here looks again at once, and others move in between anyway. It counts
/// faster than it spins, so that whoever gives up after a number of looks does so after a few: a hundred looks in vain show no more than
/// three.
/// </summary>
public struct SpinWait
{
    private const int CountedAsOne = 8;

    public int Count { get; private set; }

    public readonly bool NextSpinWillYield => Count > CountedAsOne;

    public void SpinOnce() => Count += CountedAsOne;
}
