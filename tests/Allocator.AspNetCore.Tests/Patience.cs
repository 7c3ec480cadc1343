using System.Diagnostics;

namespace Allocator.AspNetCore.Tests;

/// <summary>How long a test waits for what must happen. Only one that fails waits for so long.</summary>
internal static class Patience
{
    public static TimeSpan Limit { get; } = TimeSpan.FromSeconds(30);

    public static async Task UntilAsync(Func<bool> condition)
    {
        long began = Stopwatch.GetTimestamp();
        while (!condition())
        {
            if (Stopwatch.GetElapsedTime(began) > Limit)
            {
                throw new TimeoutException("What the test waits for has not happened.");
            }

            await Task.Delay(TimeSpan.FromMilliseconds(2));
        }
    }
}
