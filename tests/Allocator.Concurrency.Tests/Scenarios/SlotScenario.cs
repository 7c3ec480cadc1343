using System;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Threads with blocks in their slots, and others that want those blocks.</summary>
internal sealed class SlotScenario : PoolScenario
{
    private readonly bool _closes;
    private readonly int[] _looks = [0];

    public SlotScenario(int blocks, int inSlots, Action<SlotScenario> owner, params Action<SlotScenario>[] others)
        : base(blocks)
    {
        Thread(owner.Method.Name, () => owner(this), () => FillSlots(inSlots));
        foreach (Action<SlotScenario> other in others)
        {
            Thread(other.Method.Name, () => other(this));
            _closes |= other.Method.Name == nameof(Close);
        }
    }

    public static void Rent(SlotScenario run) => run.RentAndReturn();

    public static void RentTwice(SlotScenario run)
    {
        run.RentAndReturn();
        run.RentAndReturn();
    }

    public static void Drain(SlotScenario run) => run.Pool.DrainSlots();

    /// <summary>As a trimmer does, which looks at each block before it is taken: that is a step in the middle.</summary>
    public static void DrainByLooks(SlotScenario run) => run.Pool.DrainSlots(block => Volatile.Read(ref run._looks[0]) == 0);

    public static void TrimAll(SlotScenario run) => run.Pool.Reclaimer.TrimAll();

    public static void Close(SlotScenario run) => run.Pool.Close();

    public override void Check()
    {
        if (_closes)
        {
            ExpectNothingLeft();
        }
        else
        {
            ExpectAllIdle();
        }
    }
}
