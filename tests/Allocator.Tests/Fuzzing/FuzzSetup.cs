namespace Allocator.Tests.Fuzzing;

/// <summary>What kind of allocator a seed stands for.</summary>
internal static class FuzzSetup
{
    public static TestSetup Create(Random random, out long? budget, out AbandonedMemory abandoned, out FuzzCallbacks callbacks)
    {
        const int Block = TestSetup.BlockSize;
        FakeMemorySource source = new();
        callbacks = new FuzzCallbacks(source);
        budget = random.Next(3) == 0 ? null : random.Next(2, 30) * (long)Block;
        abandoned = random.Next(2) == 0 ? AbandonedMemory.Quarantine : AbandonedMemory.Reuse;
        MemoryAllocatorOptions options = new()
        {
            Abandoned = abandoned,
            ClearOnReturn = random.Next(4) == 0,
            PreferContiguous = random.Next(4) == 0,
            TrimRate = random.Next(1, 5) * 0.25,
            Safety = SafetyMode.Standard,
            BudgetTimeout = TimeSpan.FromSeconds(random.Next(2) * 3),
            BlockCommitted = callbacks.Committed,
            BlockReleasing = callbacks.Releasing,
        };
        TestSetup setup = new(random.Next(0, 25), options, source, budget: budget);

        // Nothing comes back while a thread waits, so that it waits in vain.
        setup.Clock.OnWait = () => setup.Clock.Advance(options.BudgetTimeout);
        return setup;
    }
}
