using System.Globalization;
using CsCheck;

namespace Allocator.Tests.Fuzzing;

/// <summary>
/// Many short sequences, others in each run. A failure names the shortest sequence that was found and its seed: <c>CsCheck_Seed</c>
/// repeats it, and looks for a shorter one. <c>ALLOCATOR_FUZZ_SECONDS</c> says how long to go on.
/// </summary>
public class FuzzerTests
{
    private const int Sequences = 300;
    private const int Operations = 80;

    // Of one process with collections, and from one such process to the next.
    private const int SequencesWithCollections = 40;
    private const int SequencesBetween = 500;

    [Fact]
    public void Run_ManySequences_AgreesWithTheOracle() => Sample(Operations, collects: false, Sequences);

    [Fact]
    public void Run_WithAbandonedBuffersAndCollections_AgreesWithTheOracle() => SampleWithCollections();

    [SkippableFact]
    public void Run_ForAsLongAsWanted_AgreesWithTheOracle()
    {
        string? wanted = Environment.GetEnvironmentVariable("ALLOCATOR_FUZZ_SECONDS");
        Skip.If(wanted is null, "ALLOCATOR_FUZZ_SECONDS is not set.");

        TimeSpan duration = TimeSpan.FromSeconds(double.Parse(wanted!, CultureInfo.InvariantCulture));
        long started = TimeProvider.System.GetTimestamp();
        while (TimeProvider.System.GetElapsedTime(started) < duration)
        {
            Sample(4 * Operations, collects: false, SequencesBetween);
            SampleWithCollections();
        }
    }

    private static void SampleWithCollections() =>
        RemoteExecutor.Invoke(static () => Sample(60, collects: true, SequencesWithCollections)).Dispose();

    // One after the other: what fails with other sequences beside it should fail alone.
    private static void Sample(int operations, bool collects, int sequences) =>
        Gen.Select(Gen.Int, Gen.Select(Gen.Int[0, int.MaxValue], Gen.Int).Array[operations / 4, operations]).Sample(
            (seed, steps) =>
            {
                using Fuzzer fuzzer = new(seed, collects);
                fuzzer.Run(steps);
            },
            iter: sequences,
            threads: 1);
}
