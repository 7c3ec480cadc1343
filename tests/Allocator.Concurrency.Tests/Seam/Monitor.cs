using Allocator.Concurrency.Interleaving.Atomics;

// The compiler takes this one for lock statements.
namespace System.Threading;

/// <summary>What lock statements of the library become.</summary>
internal static class Monitor
{
    public static void Enter(object target, ref bool lockTaken) => Locks.Enter(target, ref lockTaken);

    public static void Exit(object target) => Locks.Exit(target);

    // What is asserted of locks is asserted by the unit tests.
    public static bool IsEntered(object target) => target is not null;
}
