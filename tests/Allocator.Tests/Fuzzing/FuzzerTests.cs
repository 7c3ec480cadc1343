using System.Diagnostics;
using System.Globalization;

namespace Allocator.Tests.Fuzzing;

/// <summary>Many short sequences. <c>ALLOCATOR_FUZZ_SECONDS</c> says how long to go on with seeds that have not been tried here.</summary>
public class FuzzerTests
{
    private const int Seeds = 300;
    private const int Operations = 80;

    // Of one process with collections, and from one such process to the next.
    private const int SeedsWithCollections = 40;
    private const int SeedsBetween = 500;

    [Fact]
    public void Run_SeedsFromOneOn_AgreesWithTheOracle()
    {
        for (int seed = 1; seed <= Seeds; seed++)
        {
            Run(seed, Operations, collects: false);
        }
    }

    [Fact]
    public void Run_WithAbandonedBuffersAndCollections_AgreesWithTheOracle() => RunWithCollections(1);

    [SkippableFact]
    public void Run_ForAsLongAsWanted_AgreesWithTheOracle()
    {
        string? wanted = Environment.GetEnvironmentVariable("ALLOCATOR_FUZZ_SECONDS");
        Skip.If(wanted is null, "ALLOCATOR_FUZZ_SECONDS is not set.");

        TimeSpan duration = TimeSpan.FromSeconds(double.Parse(wanted!, CultureInfo.InvariantCulture));
        Stopwatch elapsed = Stopwatch.StartNew();
        for (int seed = Environment.TickCount | int.MinValue; elapsed.Elapsed < duration; seed++)
        {
            Run(seed, 4 * Operations, collects: false);
            if (seed % SeedsBetween == 0)
            {
                RunWithCollections(seed);
            }
        }
    }

    private static void RunWithCollections(int first)
    {
        RemoteExecutor.Invoke(RunSeeds, first.ToString(CultureInfo.InvariantCulture)).Dispose();

        static void RunSeeds(string first)
        {
            for (int i = 0; i < SeedsWithCollections; i++)
            {
                Run(int.Parse(first, CultureInfo.InvariantCulture) + i, 60, collects: true);
            }
        }
    }

    private static void Run(int seed, int operations, bool collects)
    {
        using Fuzzer fuzzer = new(seed, collects);
        fuzzer.Run(operations);
    }
}
