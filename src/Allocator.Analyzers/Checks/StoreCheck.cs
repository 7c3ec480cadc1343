using Allocator.Analyzers.Flow;
using Allocator.Analyzers.Lattice;
using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Checks;

/// <summary>ALLOC003: memory left in a field, whose owner is certainly disposed when the body ends.</summary>
internal static class StoreCheck
{
    public static void Run(IReadOnlyList<Store> stores, FlowState? exit, Reporter reporter)
    {
        if (exit is null)
        {
            return;
        }

        for (int i = 0; i < stores.Count; i++)
        {
            bool isLeft = (exit.SurelyStored >> i & 1) != 0;
            ulong disposed = stores[i].Sites & exit.SurelyDisposed & ~exit.OwnerEscaped & ~exit.Pinned;
            if (isLeft && disposed != 0)
            {
                reporter.Report(LifetimeRules.OutlivesOwner, stores[i].Operation, disposed);
            }
        }
    }
}
