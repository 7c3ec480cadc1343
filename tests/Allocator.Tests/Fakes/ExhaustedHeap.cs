using System.Diagnostics;

namespace Allocator.Tests.Fakes;

/// <summary>
/// Takes all managed memory that there is, down to the smallest object. For a process of its own, with a limit for its heap.
/// </summary>
internal sealed class ExhaustedHeap
{
    private readonly TimeSpan _duration;
    private object? _last;

    public ExhaustedHeap(TimeSpan duration) => _duration = duration;

    /// <summary>Takes whatever becomes free for as long as was asked for, and gives it back then.</summary>
    /// <param name="meanwhile">Called now and then. It must not need managed memory.</param>
    public void Hold(Action meanwhile)
    {
        long end = Stopwatch.GetTimestamp() + (long)(_duration.TotalSeconds * Stopwatch.Frequency);
        while (Stopwatch.GetTimestamp() < end)
        {
            for (int length = 1 << 16; length > 0; length /= 4)
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
