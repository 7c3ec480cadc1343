namespace Decisions.Slots;

/// <summary>What a rent and its return took at some distance between threads.</summary>
/// <param name="Distance">The distance in bytes; 0 where nothing is padded.</param>
/// <param name="Held">How many blocks each thread held at a time.</param>
/// <param name="OneThread">The time with one thread, in nanoseconds.</param>
/// <param name="TwoThreads">The wall time over the operations of two threads, in nanoseconds.</param>
internal sealed record SpacedTime(int Distance, int Held, double OneThread, double TwoThreads)
{
    /// <summary>Gets the throughput of two threads, as a multiple of that of one.</summary>
    public double Scaling => OneThread / TwoThreads;
}
