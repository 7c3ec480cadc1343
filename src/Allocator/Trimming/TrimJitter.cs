using System;

namespace Allocator.Trimming;

/// <summary>
/// Stretches periods by a random part, so that the pools of a process, and the processes of a machine that were started together, do not trim at the same instant. Only ever stretches:
/// what goes has been idle for no less than a period. Thread-safe.
/// </summary>
internal sealed class TrimJitter
{
    /// <summary>The largest part that a period is stretched by. Pools that were woken together are spread over a fifth of a period when the first has ended, and over more with each that follows.</summary>
    public const double Largest = 0.2;

    private readonly Random? _random;

    /// <summary>Makes one that draws from <paramref name="random"/>, or stretches nothing.</summary>
    public TrimJitter(Random? random) => _random = random;

    /// <summary>Gets the one that stretches nothing.</summary>
    public static TrimJitter None { get; } = new(null);

    /// <summary>Makes one of its own numbers. .NET Framework would seed from the time, which is the same for processes that start together.</summary>
    public static TrimJitter Create() => new(new Random(Guid.NewGuid().GetHashCode()));

    /// <summary>Gives how long the next period lasts: from as long as it should to a fifth longer.</summary>
    public long Stretch(long periodMilliseconds)
    {
        if (_random is null)
        {
            return periodMilliseconds;
        }

        lock (_random)
        {
            return periodMilliseconds + (long)(periodMilliseconds * Largest * _random.NextDouble());
        }
    }
}
