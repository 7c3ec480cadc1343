namespace Allocator.Tests.Pooling;

/// <summary>
/// What a pool needs and how long its rents take under more threads than cores, against a lock and a stack in the same process and
/// in turn.
/// </summary>
public class CrowdedPoolTests
{
    private const int Rounds = 5;
    private const int Runs = 10;
    private const int Comparisons = 3;

    [SkippableTheory]
    [InlineData(500, 1)]
    [InlineData(500, 4)]
    [InlineData(200, 1)]
    [InlineData(200, 4)]
    public void Rent_MoreThreadsThanCores_CommitsFewMoreBlocksThanALockedStack(int threads, int held)
    {
        OptimizedBuild.SkipOtherwise();
        Run(
            static (threads, held) => OtherProcesses.Judge(() =>
            {
                // The first rounds compile, in which threads wait for the runtime with blocks in hand.
                (int[] blocks, int[] ofStack) = Compare(
                    Runs, warmup: 3, prewarmedBlocks: 0, rents: 40_000, int.Parse(threads), int.Parse(held),
                    static (pool, _) => pool.CommittedBlocks);

                // In one run of a hundred other processes stop many threads with blocks in hand, in one pool and not in the other.
                int[] excess = [.. blocks.Zip(ofStack, static (blocks, ofStack) => blocks - ofStack).Order()];
                return excess[^2] <= (2 * Environment.ProcessorCount) + 8
                    ? null
                    : $"{string.Join(' ', blocks)} blocks; a lock and a stack: {string.Join(' ', ofStack)}.";
            }),
            threads,
            held);
    }

    [SkippableTheory]
    [InlineData(500, 1)]
    [InlineData(500, 4)]
    [InlineData(200, 1)]
    [InlineData(200, 4)]
    public void Rent_MoreThreadsThanCores_WaitsAtMostTenTimesAsLongAsALockedStack(int threads, int held)
    {
        OptimizedBuild.SkipOtherwise();
        Run(
            static (threads, held) => OtherProcesses.Judge(() =>
            {
                // Other processes that stop a thread in the middle of a rent count here: up to three comparisons. What waits for
                // threads exceeds the bound in each, by a factor of 50.
                long wait = long.MaxValue;
                long atStack = 0;
                for (int i = 0; i < Comparisons && wait > 10 * atStack; i++)
                {
                    (long[] waits, long[] atStacks) = Compare(
                        Rounds, warmup: 1, prewarmedBlocks: 64, rents: 100_000, int.Parse(threads), int.Parse(held),
                        static (_, wait) => wait);
                    (wait, atStack) = (Median(waits), Median(atStacks));
                }

                return wait <= 10 * atStack ? null : $"p99.99 of a wait is {wait} ticks; at a lock and a stack {atStack}.";
            }),
            threads,
            held);
    }

    private static void Run(Func<string, string, int> child, int threads, int held)
    {
        RemoteInvokeOptions options = new() { TimeOut = 3 * RemoteExecutor.FailWaitTimeoutMilliseconds };

        // Code that is compiled again in the middle of a run stops the threads that wait for it, with blocks in hand.
        options.StartInfo.Environment["DOTNET_TieredCompilation"] = "0";
        OtherProcesses.SkipIfDisturbed(RemoteExecutor.Invoke(child, threads.ToString(), held.ToString(), options));
    }

    private static (T[] OfLibrary, T[] OfLockAndStack) Compare<T>(
        int runs, int warmup, int prewarmedBlocks, int rents, int threads, int held, Func<CrowdedPool, long, T> select)
    {
        T[] ofLibrary = new T[runs];
        T[] ofLockAndStack = new T[runs];
        for (int i = -warmup; i < runs; i++)
        {
            using CrowdedPool library = new CrowdedPool.OfLibrary(prewarmedBlocks);
            using CrowdedPool lockAndStack = new CrowdedPool.OfLockAndStack(prewarmedBlocks);
            ofLibrary[Math.Max(i, 0)] = select(library, library.Run(threads, held, rents));
            ofLockAndStack[Math.Max(i, 0)] = select(lockAndStack, lockAndStack.Run(threads, held, rents));
        }

        return (ofLibrary, ofLockAndStack);
    }

    private static long Median(long[] values) => values.Order().ElementAt(values.Length / 2);
}
