using System;
using Measuring.Timing;

namespace Decisions.Slots;

/// <summary>Threads that rent from a pool of their own and return at once.</summary>
internal sealed class RentingTeam : IDisposable
{
    private readonly BlockPool _pool;
    private readonly ThreadTeam _team;
    private readonly int _threads;
    private bool _ends;

    /// <summary>Starts <paramref name="threads"/> threads that hold <paramref name="held"/> blocks at a time: one or four.</summary>
    public RentingTeam(BlockPool pool, int threads, int held)
    {
        _pool = pool;
        _threads = threads;
        Held = held;
        _team = new ThreadTeam(threads, Work);
    }

    /// <summary>Gets what the pool's slots are called.</summary>
    public string Slots => _pool.Name;

    /// <summary>Gets the number of threads.</summary>
    public int Threads => _threads;

    /// <summary>Gets how many blocks each holds at a time.</summary>
    public int Held { get; }

    /// <summary>Rents and returns so many blocks in all.</summary>
    public void Run(int count) => _team.Run(Math.Max(count, _threads * Held));

    /// <inheritdoc/>
    public void Dispose()
    {
        _ends = true;
        _team.Run(_threads);
        _team.Dispose();
        _pool.Dispose();
    }

    private void Work(int thread, int count)
    {
        if (_ends)
        {
            _pool.EndThread();
        }
        else if (Held == 1)
        {
            _pool.RentAndReturn(count);
        }
        else
        {
            _pool.RentAndReturnFour(count);
        }
    }
}
