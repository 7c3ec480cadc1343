namespace Allocator.Diagnostics;

/// <summary>Says whether rents are traced. Every rent reads it, so it is a class of its own, without a type initializer.</summary>
internal static class Tracing
{
    private const int RentsForDiagnostics = 1;
    private const int ArraysForDiagnostics = 2;
    private const int RentsForEvents = 4;

    // One word, so that a rent looks at one. Changed by compare-exchange: the event source is notified under locks of the runtime's, and
    // must wait for none of ours.
    private static int s_wanted;

    /// <summary>Gets whether rents of unmanaged memory ask <see cref="MemoryDiagnostics.TryTrace"/>.</summary>
    public static bool Rents => (s_wanted & (RentsForDiagnostics | RentsForEvents)) != 0;

    /// <summary>Gets whether those of arrays do.</summary>
    public static bool Arrays => (s_wanted & (ArraysForDiagnostics | RentsForEvents)) != 0;

    public static void SetForDiagnostics(bool rents, bool arrays) =>
        Change(RentsForDiagnostics | ArraysForDiagnostics, (rents ? RentsForDiagnostics : 0) | (arrays ? ArraysForDiagnostics : 0));

    public static void SetForEvents(bool rents) => Change(RentsForEvents, rents ? RentsForEvents : 0);

    private static void Change(int bits, int values)
    {
        for (int seen = Volatile.Read(ref s_wanted), found; (seen & bits) != values; seen = found)
        {
            found = Interlocked.CompareExchange(ref s_wanted, (seen & ~bits) | values, seen);
            if (found == seen)
            {
                return;
            }
        }
    }
}
