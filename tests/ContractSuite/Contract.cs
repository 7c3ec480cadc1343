using Allocator;

namespace ContractSuite;

/// <summary>
/// What the library promises everywhere, by public calls only: run by programs for systems, runtimes and compilers on which the unit tests
/// do not run.
/// </summary>
internal static class Contract
{
    /// <summary>Runs all checks.</summary>
    /// <param name="checks">Gets their outcomes.</param>
    /// <param name="tellsResidentSet">Whether the system tells what of this process is in memory.</param>
    /// <param name="hasRecordFile">Whether a file of records can be made: not where nothing can be written.</param>
    public static void Run(Checks checks, bool tellsResidentSet = true, bool hasRecordFile = true)
    {
        NativeMemoryKind[] kinds =
            [NativeMemoryKind.Virtual, NativeMemoryKind.Heap, NativeMemoryKind.HGlobal, NativeMemoryKind.CoTaskMem];
        foreach (NativeMemoryKind kind in kinds)
        {
            // A heap keeps what it likes of what is freed.
            RunFor(kind, checks, tellsResidentSet && kind == NativeMemoryKind.Virtual);
        }

        checks.Run("budget: waits and is served", BudgetContract.WaitsAndIsServed);
        checks.Run("budget: gives up", BudgetContract.GivesUp);
        checks.Run("budget: reserves", BudgetContract.Reserves);
        checks.Run("budget: idle memory makes room", BudgetContract.IdleMemoryMakesRoom);
        foreach (SafetyMode mode in (SafetyMode[])[SafetyMode.Sampled, SafetyMode.Guarded])
        {
            checks.Run($"{mode}: buffers of every length", () => SafetyContract.BuffersOfEveryLength(mode));
            checks.Run($"{mode}: an overrun is found and recorded", () => SafetyContract.OverrunIsFoundAndRecorded(mode, hasRecordFile));
        }
    }

    private static void RunFor(NativeMemoryKind kind, Checks checks, bool looksAtResidentSet)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { Name = kind.ToString(), NativeMemory = kind, MaximumPoolSizeMegabytes = 256 });
        BufferContract buffers = new(allocator);
        checks.Run($"{kind}: owners", buffers.Owners);
        checks.Run($"{kind}: clean owners after dirty ones", buffers.CleanOwners);
        checks.Run($"{kind}: aligned owners", buffers.AlignedOwners);
        checks.Run($"{kind}: group", buffers.Group);
        checks.Run($"{kind}: contiguous group", buffers.ContiguousGroup);
        checks.Run($"{kind}: pixel buffer", buffers.Pixels);
        checks.Run($"{kind}: leases", buffers.Leases);
        checks.Run($"{kind}: threads", buffers.Threads);
        LifetimeContract lifetimes = new(allocator);
        checks.Run($"{kind}: pin past dispose", lifetimes.PinPastDispose);
        checks.Run($"{kind}: use after dispose throws", lifetimes.UseAfterDispose);
        checks.Run($"{kind}: double dispose", lifetimes.DoubleDispose);
        InteropContract interop = new(allocator);
        checks.Run($"{kind}: hand-off and its release callback", interop.HandOff);
        checks.Run($"{kind}: wrapped memory", interop.Wrapped);
        checks.Run($"{kind}: stream", interop.Stream);
        checks.Run($"{kind}: memory pool", interop.Pool);
        TrimmingContract trimming = new(allocator);
        checks.Run($"{kind}: three waves, trimmed between", trimming.Waves);
        if (looksAtResidentSet)
        {
            checks.Run($"{kind}: the resident set falls", trimming.ResidentSetFalls);
        }

        checks.Run($"{kind}: all goes back", trimming.AllGoesBack);
        checks.Run($"{kind}: what follows a buffer can be read", () => OverreadContract.ReadAll(kind, SafetyMode.Standard));
        checks.Run($"{kind}: what follows a sampled buffer can be read", () => OverreadContract.ReadAll(kind, SafetyMode.Sampled));
        checks.Run($"{kind}: hooks are in step", () => RegistrationContract.HooksAreInStep(kind));
        checks.Run($"{kind}: blocks are kept", () => RegistrationContract.BlocksAreKept(kind));
        checks.Run($"{kind}: buffers outlive their allocator", () => LifetimeContract.BuffersOutliveTheirAllocator(kind));
        checks.Run($"{kind}: abandoned memory is found", () => AbandonmentContract.IsFound(kind));
    }
}
