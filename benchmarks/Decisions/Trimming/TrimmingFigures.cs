using System.Linq;
using Decisions.Machines;

namespace Decisions.Trimming;

/// <summary>One child's result, and what follows from it.</summary>
/// <param name="Run">What it did.</param>
/// <param name="Result">What it found.</param>
internal sealed record TrimmingFigures(TrimmingRun Run, TrimmingResult Result)
{
    /// <summary>Gets the name of the trigger.</summary>
    public string Trigger => TrimTriggers.NameOf(Run.Trigger);

    /// <summary>Gets the name of what the process did while it was watched.</summary>
    public string Afterwards => TrimTriggers.NameOf(Run.Aftermath);

    /// <summary>Gets the idle memory summed up over the time it was held, in MB times seconds.</summary>
    public double Held => Result.Samples.Zip(Result.Samples.Skip(1), (sample, next) => (next.Seconds - sample.Seconds) * MemorySize.ToMegabytes(sample.RetainedBytes)).Sum();

    /// <summary>Gets what part that is of everything held all the time.</summary>
    public double HeldPart => Held / (Result.Samples[^1].Seconds * MemorySize.ToMegabytes(BurstBytes));

    /// <summary>Gets what was still idle in the pool at the end, in MB.</summary>
    public double Left => MemorySize.ToMegabytes(Result.Samples[^1].RetainedBytes);

    // A tick may have come between the end of the burst and the first look at the pool.
    private double BurstBytes => (double)Run.Blocks * MemorySize.Block;

    /// <summary>Returns when no more than the given part of the burst's memory was idle in the pool, in seconds; null where that did not happen.</summary>
    public double? SecondsTo(double part)
    {
        foreach (TrimmingSample sample in Result.Samples)
        {
            if (sample.RetainedBytes <= part * BurstBytes)
            {
                return sample.Seconds;
            }
        }

        return null;
    }

    /// <summary>Returns the process's resident memory at some part of the time that it was watched, in MB.</summary>
    public double ResidentAt(double part)
        => MemorySize.ToMegabytes(Result.Samples.Last(sample => sample.Seconds <= part * Result.Samples[^1].Seconds).ResidentBytes);
}
