using System.Reflection;
using Allocator.Budgeting;
using Allocator.Concurrency.Seam;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>
/// One rented block whose guard and owner a collection has found unreachable: the guard's finalizer is pending, and a finalizer of the
/// user's may still dispose of the owner, or hand it to another thread that does.
/// </summary>
internal sealed class AbandonScenario : PoolScenario
{
    private static readonly FieldInfo s_self = typeof(FinalizableGuard).GetField("_self", BindingFlags.Instance | BindingFlags.NonPublic)!;
    private static readonly MethodInfo s_finalize = typeof(FinalizableGuard)
        .GetMethod("Finalize", BindingFlags.Instance | BindingFlags.NonPublic)!;

    private readonly BlockGuard _guard;
    private readonly Action _finalize;
    private readonly long _generation;

    public AbandonScenario(AbandonedMemory abandoned, params Action<AbandonScenario>[] bodies)
        : base(1, abandoned)
    {
        Collector.TakeRegistered();
        _guard = TryRent()!;
        _generation = _guard.BeginPlain(BlockSize);
        _finalize = s_finalize.CreateDelegate<Action>(_guard);
        ((WeakReference<FinalizableGuard>)s_self.GetValue(_guard)!).Clear();
        foreach (Action<AbandonScenario> body in bodies)
        {
            Thread(body.Method.Name, () => body(this));
        }
    }

    public static void RunFinalizer(AbandonScenario run) => run._finalize();

    /// <summary>Runs it, and once more where that has been asked for and another collection has found the guard.</summary>
    public static void RunFinalizerTwice(AbandonScenario run)
    {
        run._finalize();
        FinalizeAgain(run);
    }

    public static void FinalizeAndRunBackground(AbandonScenario run)
    {
        run._finalize();
        WorkItems.DoAll();
    }

    /// <summary>Does, as the background thread, what the finalizer has left by now.</summary>
    public static void RunBackground(AbandonScenario run) => WorkItems.DoAll();

    public static void DisposeOwner(AbandonScenario run) => run._guard.Dispose(run._generation);

    /// <summary>Claims the one block, and tries for another: there is none, unless the first was given back twice.</summary>
    public static void ClaimTwo(AbandonScenario run)
    {
        BlockArena arena = run.Pool.Arenas[0];
        Refusals refusals = default;
        if (arena.TryClaimMany(1, resident: true) != 0 && arena.TryTake(0, 1, ref refusals, out _) is BlockGuard block)
        {
            long generation = run.Begin(block);
            Assert.Equal(0UL, arena.TryClaimMany(1, resident: true));
            Assert.True(block.IsHeld(generation), "A finalizer has taken another guard's rent.");
            run.End(block, generation);
        }
    }

    public override void Check()
    {
        WorkItems.DoAll();
        FinalizeAgain(this);
        WorkItems.DoAll();
        Assert.False(Collector.TakeRegistered(), "It would be finalized for ever.");
        Assert.InRange(Counters.Abandoned, 0, 1);
        ExpectAllIdle();
    }

    private static void FinalizeAgain(AbandonScenario run)
    {
        Collector.PretendCollection();
        if (Collector.TakeRegistered())
        {
            run._finalize();
        }
    }
}
