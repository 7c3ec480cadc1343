namespace Allocator.Guarding;

/// <summary>
/// Chooses which allocations to watch: one in a given number, each with the same chance, on every thread and after every choice.
/// </summary>
internal sealed class SafetySampler(int interval)
{
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static ulong t_random;
#pragma warning restore IDE1006

    /// <summary>Restarts the current thread's random numbers, so that a test sees the same ones each time.</summary>
    public static void Seed(ulong seed)
    {
        Debug.Assert(seed != 0, "From a seed of 0 xorshift makes only zeros.");
        t_random = seed;
    }

    public bool Chooses()
    {
        Debug.Assert(interval >= 1, "One in less than one cannot be chosen.");

        // xorshift64 (Marsaglia 2003). Its upper 53 bits make a number from 0 to below 1.
        ulong x = t_random == 0 ? FreshSeed() : t_random;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        Seed(x);
        return (x >> 11) * (1.0 / (1UL << 53)) < 1.0 / interval;
    }

    // The finalizer of SplitMix64, for threads that begin at nearly the same time.
    private static ulong FreshSeed()
    {
        ulong z = (ulong)Stopwatch.GetTimestamp() + (ulong)Thread.CurrentThread.ManagedThreadId * 0x9E37_79B9_7F4A_7C15;
        z = (z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9;
        z = (z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB;
        return (z ^ (z >> 31)) | 1;
    }
}
