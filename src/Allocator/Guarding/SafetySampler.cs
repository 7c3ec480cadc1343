using Allocator.Diagnostics;

namespace Allocator.Guarding;

/// <summary>
/// Chooses the allocations to watch: each with the same chance, on every thread and after every choice. A choice takes one random number;
/// the other allocations cost a thread-static subtraction.
/// </summary>
/// <remarks>
/// A thread draws a number from the exponential distribution. Each allocation subtracts the same amount; the one that makes it negative
/// is chosen. That distribution has no memory, so what is left of the number serves allocators of different rates, and threads that end
/// after a few allocations are watched as often as others.
/// </remarks>
internal sealed class SafetySampler
{
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    [ThreadStatic]
    private static double t_stock;

    [ThreadStatic]
    private static ulong t_random;
#pragma warning restore IDE1006

    private const string ModeName = "Allocator.Safety";
    private const string ModeVariable = "ALLOCATOR_SAFETY";

    private readonly double _share;

    /// <summary>Makes a sampler that chooses one of <paramref name="interval"/> on average.</summary>
    public SafetySampler(int interval)
    {
        Debug.Assert(interval >= 1, "The interval is at least 1.");

        // e^-share is then the chance not to be chosen: 1 - 1/interval. If that is 0, all are chosen.
        _share = -Math.Log(1 - 1.0 / interval);
    }

    /// <summary>Returns the mode of an allocator: from its options, or else from the process's configuration or environment.</summary>
    public static SafetyMode ResolveMode(SafetyMode? option) => option ?? ProcessSwitch.Read(ModeName, ModeVariable, SafetyMode.Standard);

    public static SafetyMode ResolveMode(SafetyMode? option, object? configured, string? environment) =>
        option ?? ProcessSwitch.Read(ModeName, configured, ModeVariable, environment, SafetyMode.Standard);

    /// <summary>Restarts the current thread's random numbers, so that a test sees the same ones each time.</summary>
    public static void Seed(ulong seed)
    {
        Debug.Assert(seed != 0, "From a seed of 0 xorshift makes only zeros.");
        t_random = seed;
        t_stock = NextStock();
    }

    /// <summary>Returns whether to watch this allocation.</summary>
    public bool Chooses()
    {
        if (t_random == 0)
        {
            Seed(FreshSeed());
        }

        t_stock -= _share;
        if (t_stock > 0)
        {
            return false;
        }

        t_stock = NextStock();
        return true;
    }

    // xorshift64 (Marsaglia 2003). Its upper 53 bits make a number above 0 and up to 1.
    private static double NextStock()
    {
        ulong x = t_random;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        t_random = x;
        return -Math.Log(((x >> 11) + 1) * (1.0 / (1UL << 53)));
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
