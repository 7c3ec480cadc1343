using System.Threading;

namespace Allocator.Budgeting;

/// <summary>Adds to a sum that has a limit, which it never exceeds, not for a moment: who fits must not fail because of somebody who does not.</summary>
internal static class BoundedSum
{
    /// <summary>Adds in one step. False, and nothing changes, where the sum would exceed the limit.</summary>
    public static bool TryAdd(ref long sum, long bytes, long limit)
    {
        long now = Volatile.Read(ref sum);
        while (bytes <= limit - now)
        {
            long seen = Interlocked.CompareExchange(ref sum, now + bytes, now);
            if (seen == now)
            {
                return true;
            }

            now = seen;
        }

        return false;
    }
}
