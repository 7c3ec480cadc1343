namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>A real thread that moves only when it is handed the baton.</summary>
internal sealed class Worker : Lane, IDisposable
{
    // Events, which do not spin: beside other load, waiting threads that do so take the time of the one that moves.
    private readonly AutoResetEvent _turn = new(initialState: false);
    private readonly AutoResetEvent _done = new(initialState: false);
    private readonly Thread _thread;
    private Action? _work;
    private Exception? _failure;

    public Worker(int index)
        : base(index)
    {
        _thread = new Thread(Run) { IsBackground = true, Name = $"Interleaved {index}" };
        _thread.Start();
    }

    /// <summary>Gets the worker that the current thread is, while a schedule runs on it.</summary>
    [field: ThreadStatic]
    public static Worker? Current { get; private set; }

    /// <summary>Gets the schedule that is followed.</summary>
    public Schedule? Schedule { get; private set; }

    /// <summary>Gets whether it has come to its end.</summary>
    public bool HasEnded { get; private set; }

    /// <summary>Does something outside any schedule, while the caller waits.</summary>
    public void DoAlone(Action work)
    {
        _work = work;
        _failure = null;
        _turn.Set();
        _done.WaitOne();
        if (_failure is not null)
        {
            throw new InvalidOperationException("What a thread did before the schedule failed.", _failure);
        }
    }

    /// <summary>Puts the thread at its beginning, where it waits for its first turn.</summary>
    public void Enter(Schedule schedule, int lanes, Action body)
    {
        Schedule = schedule;
        Clock = new int[lanes];
        HasEnded = false;
        Pending = new Step(StepKind.Local, 0, new StepSite("begins", "", "", "", 0));
        _work = () => Follow(schedule, body);
    }

    public void HandBaton() => _turn.Set();

    public void AwaitTurn() => _turn.WaitOne();

    public void Dispose()
    {
        _work = null;
        _turn.Set();
        _thread.Join();
        _turn.Dispose();
        _done.Dispose();
    }

    private void Run()
    {
        while (true)
        {
            _turn.WaitOne();
            if (_work is not Action work)
            {
                return;
            }

            if (Schedule is null)
            {
                DoNow(work);
            }
            else
            {
                work();
            }
        }
    }

    private void DoNow(Action work)
    {
        try
        {
            work();
        }
        catch (Exception exception)
        {
            _failure = exception;
        }

        _done.Set();
    }

    private void Follow(Schedule schedule, Action body)
    {
        Current = this;
        try
        {
            schedule.ThrowIfAbandoned();
            body();
        }
        catch (ScheduleAbandonedException)
        {
            // What was to be learned from this schedule is known.
        }
        catch (Exception exception)
        {
            schedule.Fail($"{schedule.NameOf(this)} threw {exception.GetType().Name}: {exception.Message}\n{exception.StackTrace}");
        }

        Current = null;
        HasEnded = true;
        Schedule = null;
        schedule.GoOn(this);
    }
}
