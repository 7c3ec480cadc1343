using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Addresses of the whole process that the system refused to take back, to be offered again at trims. There is no memory behind them, so
/// no allocator counts them, and they outlive the allocator that had them.
/// </summary>
internal static class RefusedRanges
{
    private static readonly ShortLock s_lock = new();

    // With room from the start: there may be no managed memory left when it is needed.
    private static (Func<nint, long, bool> TryAgain, nint Address, long LengthInBytes)[] s_ranges =
        new (Func<nint, long, bool>, nint, long)[256];

    private static int s_count;
    private static int s_busy;

    public static int Count => Volatile.Read(ref s_count);

    /// <summary>Makes what <see cref="Add"/> needs, while there is memory.</summary>
    public static void Prepare() => Volatile.Read(ref s_count);

    /// <summary>Keeps a range. Never fails; without memory for one more entry the addresses stay taken until the process ends.</summary>
    public static void Add(Func<nint, long, bool> tryAgain, nint address, long lengthInBytes)
    {
        MemoryDiagnostics.CountRefusedUnmap();
        using ShortLock.Section section = s_lock.Enter();
        if (s_count == s_ranges.Length && !TryGrow())
        {
            return;
        }

        s_ranges[s_count] = (tryAgain, address, lengthInBytes);
        Volatile.Write(ref s_count, s_count + 1);
    }

    /// <summary>Offers every range once more, unless another thread does that now.</summary>
    public static void Retry()
    {
        if (Count == 0 || Interlocked.Exchange(ref s_busy, 1) != 0)
        {
            return;
        }

        try
        {
            // Others only add behind the last, so an entry stays where it is while the system is asked.
            for (int i = Count - 1; i >= 0; i--)
            {
                (Func<nint, long, bool> tryAgain, nint address, long length) = Read(i);
                if (tryAgain(address, length))
                {
                    Remove(i);
                }
            }
        }
        finally
        {
            Volatile.Write(ref s_busy, 0);
        }
    }

    private static (Func<nint, long, bool> TryAgain, nint Address, long LengthInBytes) Read(int index)
    {
        using ShortLock.Section section = s_lock.Enter();
        return s_ranges[index];
    }

    // The last takes its place: a range that was tried already, or one that was added meanwhile.
    private static void Remove(int index)
    {
        using ShortLock.Section section = s_lock.Enter();
        int last = s_count - 1;
        s_ranges[index] = s_ranges[last];
        s_ranges[last] = default;
        Volatile.Write(ref s_count, last);
    }

    private static bool TryGrow()
    {
        try
        {
            Array.Resize(ref s_ranges, s_ranges.Length * 2);
            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }
}
