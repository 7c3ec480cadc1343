namespace Allocator.Tests.Fuzzing;

/// <content>What goes wrong: the system refuses, callbacks throw, the thread is interrupted, there is no memory for a timer.</content>
internal sealed partial class Fuzzer
{
    // Of the calls to the system. The empty string is all of them.
    private static readonly string[] s_refusable = ["", "", "reserve", "commit", "allocate"];

    private void RefuseNothing()
    {
        _setup.Source.Restart();
        _setup.Source.PurgesAllowed = int.MaxValue;
        _setup.Source.Refuses = static _ => true;
    }

    private void RefuseSomething()
    {
        RefuseNothing();
        if (_random.Next(2) == 0)
        {
            _setup.Source.RefuseFrom = _random.Next(1, 6);
            _setup.Source.RefuseCount = _random.Next(1, 12);
        }

        string kind = s_refusable[_random.Next(s_refusable.Length)];
        _setup.Source.Refuses = called => kind.Length == 0 || called == kind;
        _setup.Source.PurgesAllowed = _random.Next(4) == 0 ? _setup.Source.Purges + _random.Next(3) : int.MaxValue;
        (int from, int count, int purges) = (_setup.Source.RefuseFrom, _setup.Source.RefuseCount, _setup.Source.PurgesAllowed);
        Log($"the system refuses {count} calls {kind} from {from} on, purges after {purges}");
    }

    private void BreakCallbacks()
    {
        (int From, int Count) commits = NextFailures();
        (int From, int Count) releases = NextFailures();
        _callbacks.Fail(commits, releases);
        Log($"callbacks throw, (from, count): for memory that comes {commits}, for memory that goes {releases}");
    }

    private (int From, int Count) NextFailures() => _random.Next(2) == 0 ? default : (_random.Next(1, 6), _random.Next(1, 4));

    private void DisturbNextCall()
    {
        _next = (Disturbance)_random.Next(1, 3);
        Log($"next: {_next}");
    }

    private void Call(Action call) => Call(() =>
    {
        call();
        return true;
    });

    // The one way into the library for what may be disturbed.
    private T Call<T>(Func<T> call)
    {
        Disturbance disturbance = _next;
        _next = Disturbance.None;
        _oracle.BeginCall(disturbance);
        switch (disturbance)
        {
            case Disturbance.Interrupt:
                return CallInterrupted(call);
            case Disturbance.NoTimer:
                return CallWithoutTimers(call);
            default:
                return call();
        }
    }

    private T CallInterrupted<T>(Func<T> call)
    {
        Interruption interruption = new(_setup, _random, [_setup.Allocator, _setup.Scheduler, .. _oracle.Reservations]);
        bool hasArrived = false;
        interruption.Begin();
        try
        {
            T result = call();
            hasArrived = result is Task { IsFaulted: true } task && task.Exception!.InnerException is ThreadInterruptedException;
            return result;
        }
        catch (ThreadInterruptedException)
        {
            hasArrived = true;
            throw;
        }
        finally
        {
            Assert.True(interruption.End() != hasArrived, hasArrived ? "One interrupt has become two." : "An interrupt is lost.");
        }
    }

    // A timer takes managed memory.
    private T CallWithoutTimers<T>(Func<T> call)
    {
        _setup.Clock.OnTimerStart = static () => throw new OutOfMemoryException("There is no memory for a timer.");
        try
        {
            return call();
        }
        finally
        {
            _setup.Clock.OnTimerStart = null;
        }
    }
}
