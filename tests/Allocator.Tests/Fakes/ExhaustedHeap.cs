using System.Diagnostics;

namespace Allocator.Tests.Fakes;

/// <summary>
/// Takes all managed memory that there is, down to the smallest object. For a process of its own, with a limit for its heap.
/// </summary>
internal sealed class ExhaustedHeap
{
    private const int UsualRounds = 30;

    // Elements, from half a megabyte down to the smallest array. 80,000 bytes are just below what the large object heap takes.
    private static readonly int[] s_lengths = [1 << 16, 10_000, 1 << 12, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 1 << 2, 1];

    private readonly TimeSpan _duration;
    private readonly int _leastRounds;
    private object? _last;

    public ExhaustedHeap(TimeSpan duration, int leastRounds = UsualRounds)
    {
        _duration = duration;
        _leastRounds = leastRounds;
    }

    /// <summary>Takes whatever becomes free for as long as was asked for, that many times at least, and gives it back then.</summary>
    /// <param name="meanwhile">Called now and then. It must not need managed memory.</param>
    public void Hold(Action meanwhile)
    {
        long end = Stopwatch.GetTimestamp() + (long)(_duration.TotalSeconds * Stopwatch.Frequency);
        for (int rounds = 0; rounds < _leastRounds || Stopwatch.GetTimestamp() < end; rounds++)
        {
            foreach (int length in s_lengths)
            {
                TakeAll(length);
            }

            meanwhile();
        }

        _last = null;
    }

    private void TakeAll(int length)
    {
        try
        {
            while (true)
            {
                object?[] taken = new object?[length];
                taken[0] = _last;
                _last = taken;
            }
        }
        catch (OutOfMemoryException)
        {
            // Nothing of that size is left.
        }
    }
}
