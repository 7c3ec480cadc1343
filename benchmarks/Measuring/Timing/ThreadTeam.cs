namespace Measuring.Timing;

/// <summary>Threads that run the same loop at the same time, as often as they are asked to.</summary>
public sealed class ThreadTeam : IDisposable
{
    private readonly Thread[] _threads;
    private readonly Barrier _start;
    private readonly Barrier _end;
    private readonly Action<int, int> _loop;
    private int _count;
    private Exception? _failure;

    /// <summary>
    /// Starts <paramref name="threads"/> threads. <paramref name="loop"/> is given a thread's index and how often it is to do the
    /// operation.
    /// </summary>
    public ThreadTeam(int threads, Action<int, int> loop)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(threads, 1);
        _loop = loop;
        _start = new Barrier(threads + 1);
        _end = new Barrier(threads + 1);
        _threads = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            int index = i;
            _threads[i] = new Thread(() => Work(index)) { IsBackground = true, Name = $"team {index}" };
            _threads[i].Start();
        }
    }

    /// <summary>Has the team do <paramref name="count"/> operations in all, shared out evenly, and waits for them.</summary>
    public void Run(int count)
    {
        _count = Math.Max(1, count / _threads.Length);
        _start.SignalAndWait();
        _end.SignalAndWait();
        if (_failure is not null)
        {
            throw new InvalidOperationException("A thread of the team failed.", _failure);
        }
    }

    public void Dispose()
    {
        _count = 0;
        _start.SignalAndWait();
        foreach (Thread thread in _threads)
        {
            thread.Join();
        }

        _start.Dispose();
        _end.Dispose();
    }

    private void Work(int index)
    {
        while (true)
        {
            _start.SignalAndWait();
            if (_count == 0)
            {
                return;
            }

            try
            {
                _loop(index, _count);
            }
            catch (Exception exception)
            {
                _failure = exception;
            }

            _end.SignalAndWait();
        }
    }
}
