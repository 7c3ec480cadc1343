using System;
using Allocator;
using Allocator.Allocators;
using Allocator.Trimming;
using Decisions.Machines;

namespace Decisions.TrimLatency;

/// <summary>The pool, trimmed by a tick of its timer: everything that stayed idle through a period goes.</summary>
internal sealed class TickedSubject : PooledSubject
{
    private readonly MovedClock _clock;
    private readonly TrimScheduler _scheduler;
    private readonly TimeSpan _period;

    private TickedSubject(string name, AllocatorSettings settings, MovedClock clock, Action<MemoryAllocator, RentWindow> rent)
        : base(name, new PooledMemoryAllocator(settings), rent)
    {
        _clock = clock;
        _scheduler = settings.Scheduler;
        _period = settings.Options.TrimPeriod;
    }

    /// <summary>Makes a subject with a pool of <paramref name="blocks"/> blocks and a little more.</summary>
    public static TickedSubject Create(string name, int blocks, Action<MemoryAllocator, RentWindow> rent)
    {
        MovedClock clock = new();
        AllocatorSettings settings = new(Options(blocks))
        {
            Clock = clock,
            Pressure = new NoPressure(),
            Scheduler = new TrimScheduler(clock, static () => { }, watchesCollections: false),
        };
        return new TickedSubject(name, settings, clock, rent);
    }

    /// <inheritdoc/>
    public override void Fill(int blocks)
    {
        base.Fill(blocks);

        // The first look sees blocks that were just used, and the next one that they have not been since.
        EndPeriod();
    }

    /// <inheritdoc/>
    public override void Trim() => EndPeriod();

    private void EndPeriod()
    {
        _clock.Advance(_period);
        _scheduler.Tick();
    }
}
