using System;
using Measuring.Timing;

namespace Decisions.Slots;

/// <summary>Threads that each rent from slots of their own, which lie some distance from those of the others.</summary>
internal sealed class SpacedTeam : IDisposable
{
    private readonly SpacedSlots _slots;
    private readonly ThreadTeam _team;

    /// <summary>Starts <paramref name="threads"/> threads that hold one or four blocks at a time.</summary>
    public SpacedTeam(int distanceInBytes, int threads, int held)
    {
        Distance = distanceInBytes;
        Threads = threads;
        Held = held;
        _slots = new SpacedSlots(threads, distanceInBytes);
        _team = new ThreadTeam(threads, held == 1 ? _slots.RentAndReturn : _slots.RentAndReturnFour);
    }

    /// <summary>Gets the distance in bytes; 0 where nothing is padded.</summary>
    public int Distance { get; }

    /// <summary>Gets the number of threads.</summary>
    public int Threads { get; }

    /// <summary>Gets how many blocks each holds at a time.</summary>
    public int Held { get; }

    /// <summary>Rents and returns so many blocks in all.</summary>
    public void Run(int count) => _team.Run(Math.Max(count, Threads * Held));

    /// <inheritdoc/>
    public void Dispose()
    {
        _team.Dispose();
        _slots.Dispose();
    }
}
