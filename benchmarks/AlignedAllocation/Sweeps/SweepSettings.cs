using System.Collections.Generic;
using System.Globalization;

namespace AlignedAllocation.Sweeps;

/// <summary>What a child is to measure, and the way through its command line.</summary>
/// <param name="Samples">Samples of each time.</param>
/// <param name="TouchedSamples">Samples of each time of a sweep that writes to the memory.</param>
/// <param name="TouchedTypes">For how many types of pixels the memory is written to, the smallest first.</param>
/// <param name="SampleMilliseconds">How long one sample takes, about.</param>
internal sealed record SweepSettings(int Samples, int TouchedSamples, int TouchedTypes, double SampleMilliseconds)
{
    private const string ChildArgument = "--child";

    /// <summary>Reads what <see cref="ToArguments"/> wrote, or returns null where the program was started by a user.</summary>
    public static SweepSettings? TryRead(string[] arguments) => arguments is [ChildArgument, var samples, var touched, var types, var milliseconds]
        ? new SweepSettings(
            int.Parse(samples, CultureInfo.InvariantCulture),
            int.Parse(touched, CultureInfo.InvariantCulture),
            int.Parse(types, CultureInfo.InvariantCulture),
            double.Parse(milliseconds, CultureInfo.InvariantCulture))
        : null;

    /// <summary>Returns the command line of a child.</summary>
    public IReadOnlyList<string> ToArguments() =>
    [
        ChildArgument,
        Samples.ToString(CultureInfo.InvariantCulture),
        TouchedSamples.ToString(CultureInfo.InvariantCulture),
        TouchedTypes.ToString(CultureInfo.InvariantCulture),
        SampleMilliseconds.ToString(CultureInfo.InvariantCulture),
    ];
}
