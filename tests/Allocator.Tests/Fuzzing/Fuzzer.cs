namespace Allocator.Tests.Fuzzing;

/// <summary>
/// Does the operations of a sequence with an allocator, and compares its figures and all contents with what a list of buffers says: the
/// oracle has no more to it than that. Each operation draws what else it needs from its own seed, so that it stays the same when CsCheck
/// leaves out others to find the shortest sequence that fails.
/// </summary>
internal sealed partial class Fuzzer : IDisposable
{
    private const int Block = TestSetup.BlockSize;

    private Random _random;
    private readonly TestSetup _setup;
    private readonly FuzzCallbacks _callbacks;
    private readonly FuzzOracle _oracle;
    private readonly List<string> _log = [];
    private readonly bool _collects;
    private readonly (int Weight, Action Do)[] _operations;
    private int _id;
    private Disturbance _next;

    /// <param name="seed">What the allocator's options follow from, and what happens at the end.</param>
    /// <param name="collects">Whether buffers are also abandoned, and collected: in a process of its own.</param>
    public Fuzzer(int seed, bool collects)
    {
        _collects = collects;
        _random = new Random(seed);
        _setup = FuzzSetup.Create(_random, out long? budget, out AbandonedMemory abandoned, out _callbacks);
        _oracle = new FuzzOracle(_setup, _callbacks, budget, abandoned);
        _operations =
        [
            (10, AllocateBytes), (3, AllocateLongs), (3, AllocateAligned), (6, AllocateGroup), (5, AllocatePixels), (4, Lease),
            (2, Prewarm), (3, Reserve), (2, CloseReservation), (3, Wait),
            (18, DisposeOne), (2, DisposeAgain), (4, Pin), (6, Unpin), (2, Trim), (4, LetTimePass), (2, ChangePressure),
            (3, RefuseSomething), (3, BreakCallbacks), (6, DisturbNextCall), (collects ? 3 : 0, Abandon),
        ];
    }

    /// <summary>Does these operations, and then gives everything back.</summary>
    /// <param name="steps">What chooses an operation by its weight, and the operation's seed.</param>
    public void Run((int Choice, int Seed)[] steps)
    {
        Random end = _random;
        int weights = _operations.Sum(static operation => operation.Weight);
        try
        {
            foreach ((int choice, int seed) in steps)
            {
                int chosen = choice % weights;
                _random = new Random(seed);
                _operations.First(operation => (chosen -= operation.Weight) < 0).Do();
                _oracle.Compare();
            }

            _random = end;
            End();
        }
        catch (Exception exception)
        {
            throw new InvalidOperationException($"After {_log.Count} operations{(_collects ? ", with collections" : "")}:\n"
                + string.Join('\n', _log.TakeLast(25)), exception);
        }
    }

    public void Dispose()
    {
        _callbacks.Fail(default, default);
        _setup.Dispose();
    }

    private void End()
    {
        Log("the end");
        RefuseNothing();
        if (_random.Next(2) == 0)
        {
            _callbacks.Fail(default, default);
        }

        foreach (LiveBuffer buffer in _oracle.Buffers.ToArray())
        {
            EndOne(buffer);
        }

        foreach (MemoryReservation reservation in _oracle.Reservations)
        {
            reservation.Dispose();
        }

        _oracle.Reservations.Clear();
        _oracle.Compare();
        if (_random.Next(2) == 0)
        {
            _setup.Clock.Advance(TimeSpan.FromMinutes(30));
            QueuedWork.Collect();
            _oracle.Compare();
        }

        _next = (Disturbance)_random.Next(3);
        Exception? thrown = Record.Exception(() => Call(_setup.Allocator.Dispose));
        Assert.Same(_callbacks.Thrown.First, thrown);
        _oracle.ExpectNothingLeft();
        Assert.Throws<ObjectDisposedException>(() => _setup.Allocator.Allocate<byte>(1));
    }

    private void EndOne(LiveBuffer buffer)
    {
        while (buffer.CanUnpin)
        {
            buffer.Unpin();
        }

        if (!buffer.IsDisposed)
        {
            Call(buffer.Dispose);
        }
    }

    private void CloseReservation()
    {
        if (_oracle.Reservations.Count > 0)
        {
            int index = _random.Next(_oracle.Reservations.Count);
            Log($"dispose of reservation {index}");
            Call(_oracle.Reservations[index].Dispose);
            _oracle.Reservations[index].Dispose();
            _oracle.Reservations.RemoveAt(index);
        }
    }

    private void DisposeOne()
    {
        if (_oracle.Pick(_random, static buffer => !buffer.IsDisposed) is LiveBuffer buffer)
        {
            Log($"dispose of {buffer.CapacityInBytes} bytes");
            Call(buffer.Dispose);
        }
    }

    private void DisposeAgain()
    {
        if (_oracle.Pick(_random, static buffer => buffer.IsDisposed) is LiveBuffer buffer)
        {
            Log("dispose of what has been disposed");
            buffer.Dispose();
        }
    }

    private void Pin()
    {
        if (_oracle.Pick(_random, static buffer => !buffer.IsDisposed) is LiveBuffer buffer)
        {
            Log("pin");
            buffer.Pin();
        }
    }

    private void Unpin()
    {
        if (_oracle.Pick(_random, static buffer => buffer.CanUnpin) is LiveBuffer buffer)
        {
            Log("unpin");
            Call(buffer.Unpin);
        }
    }

    private void Trim()
    {
        Log("release what is retained");
        Exception? thrown = Record.Exception(() => Call(_setup.Allocator.ReleaseRetainedResources));
        Assert.Same(_callbacks.Thrown.First, thrown);
        long kept = _callbacks.ThrownReleases * (long)Block;
        Assert.InRange(_setup.Statistics.RetainedBytes, kept, _setup.Source.PurgesAllowed == int.MaxValue ? kept : long.MaxValue);
    }

    private void LetTimePass()
    {
        int seconds = _random.Next(1, 200);
        Log($"{seconds} s pass");
        _setup.Clock.Advance(TimeSpan.FromSeconds(seconds));
    }

    private void ChangePressure()
    {
        _setup.Pressure.IsHigh = _random.Next(2) == 0;
        Log($"pressure is high: {_setup.Pressure.IsHigh}");
    }

    private void Abandon()
    {
        if (_oracle.Pick(_random, static buffer => !buffer.IsDisposed && !buffer.CanUnpin && !buffer.IsArray) is LiveBuffer buffer)
        {
            Log($"abandon {buffer.CapacityInBytes} bytes");
            _oracle.Abandon(buffer);
        }
    }

    private void Log(string operation) => _log.Add(operation);
}
