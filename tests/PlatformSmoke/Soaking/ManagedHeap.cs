namespace PlatformSmoke.Soaking;

/// <summary>
/// Fills the managed heap to the last byte now and then, so that every other thread runs out of it. For a process whose heap has a hard
/// limit.
/// </summary>
internal sealed class ManagedHeap
{
    // Code that runs for the first time without memory, the runtime's too, fails for ever.
    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_filled = TimeSpan.FromMilliseconds(30);
    private static readonly TimeSpan s_empty = TimeSpan.FromMilliseconds(300);

    private const int PoolThreads = 16;

    private readonly List<byte[]> _arrays = new(1 << 16);

    /// <summary>Gets how often the heap was full.</summary>
    public int Times { get; private set; }

    /// <summary>Fills and empties the heap until it is told to stop.</summary>
    public void Run(CancellationToken stop)
    {
        WaitHandle stopped = stop.WaitHandle;
        MakePoolThreads();
        stopped.WaitOne(s_warmUp);
        while (!stopped.WaitOne(s_empty))
        {
            Fill();
            Times++;
            stopped.WaitOne(s_filled);
            _arrays.Clear();
        }
    }

    // A thread of the pool that starts without memory ends the process, also where the library has nothing to do with it.
    private static void MakePoolThreads()
    {
        ThreadPool.SetMinThreads(PoolThreads, PoolThreads);
        using Barrier together = new(PoolThreads + 1);
        for (int i = 0; i < PoolThreads; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static together => ((Barrier)together!).SignalAndWait(), together);
        }

        together.SignalAndWait();
    }

    private void Fill()
    {
        for (int length = 1 << 20; length >= 64; length /= 4)
        {
            try
            {
                while (_arrays.Count < _arrays.Capacity)
                {
                    _arrays.Add(new byte[length]);
                }
            }
            catch (OutOfMemoryException)
            {
                // The next smaller size.
            }
        }
    }
}
