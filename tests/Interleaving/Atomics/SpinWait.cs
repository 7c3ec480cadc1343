namespace Interleaving.Atomics;

/// <summary>Stands in for <see cref="System.Threading.SpinWait"/>: who waits here looks again at once, and others move in between anyway.</summary>
public struct SpinWait
{
    public int Count { get; private set; }

    public void SpinOnce() => Count++;
}
