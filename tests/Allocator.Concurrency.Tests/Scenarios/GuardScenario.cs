namespace Allocator.Concurrency.Scenarios;

/// <summary>Threads that share one rent of a guard, and one that rents the memory again when it is back.</summary>
internal sealed class GuardScenario : Scenario
{
    private const nint FirstAddress = 1 << 12;
    private const nint SecondAddress = 1 << 13;

    private readonly CountedGuard _guard = new();
    private readonly long _first;
    private long _second = -1;
    private int _rents = 1;

    public GuardScenario(params Action<GuardScenario>[] bodies)
    {
        _first = _guard.Rent(FirstAddress);
        foreach (Action<GuardScenario> body in bodies)
        {
            Thread(body.Method.Name, () => body(this));
        }
    }

    public static void Dispose(GuardScenario run) => run._guard.Dispose(run._first);

    public static void DisposeTwice(GuardScenario run)
    {
        run._guard.Dispose(run._first);
        run._guard.Dispose(run._first);
    }

    public static void PinAndUnpin(GuardScenario run)
    {
        if (run._guard.TryAddReference(run._first))
        {
            run._guard.Use();
            run._guard.StopUsing();
            run._guard.RemoveReference(run._first);
        }
    }

    public static void UnpinOnceTooOften(GuardScenario run)
    {
        PinAndUnpin(run);
        run._guard.RemoveReference(run._first);
    }

    /// <summary>Looks at the memory of a rent that another thread may be ending.</summary>
    public static unsafe void Look(GuardScenario run)
    {
        if (run._guard.TryGetSpan(run._first, 1, out Span<byte> span))
        {
            nint address = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(span));
            Assert.True(address == FirstAddress, "A late user was given the next rent's memory.");
        }
    }

    /// <summary>Ends the rent, and is the next renter of the same memory.</summary>
    public static void DisposeAndRentAgain(GuardScenario run)
    {
        run._guard.Dispose(run._first);
        if (run._guard.TryTake())
        {
            run._rents++;
            run._second = run._guard.Rent(SecondAddress);
            run._guard.Use();

            // The pin of the first rent, or a second dispose of it, must not end this one.
            Assert.True(run._guard.IsHeld(run._second), "A thread ended the rent of another.");
            run._guard.StopUsing();
            run._guard.Dispose(run._second);
        }
    }

    public override void Check()
    {
        Assert.False(_guard.IsOut, "Memory is outstanding that no thread holds.");
        Assert.Equal(_rents, _guard.Returns);
    }
}
