using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace Allocator.Benchmarks.Reporting;

/// <summary>A unit of time that suits some times, and the decimals that they need in it.</summary>
/// <param name="Unit">The name of the unit.</param>
/// <param name="Nanoseconds">Its length in nanoseconds.</param>
/// <param name="Format">The .NET format of a number in this unit.</param>
internal sealed record TimeScale(string Unit, double Nanoseconds, string Format)
{
    private static readonly (string Unit, double Nanoseconds)[] s_units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1)];

    /// <summary>
    /// Chooses the largest unit of which the shortest of <paramref name="times"/>, in nanoseconds, still has one, and as many decimals as give that time three digits:
    /// figures of one table are read against each other, so they share a unit.
    /// </summary>
    public static TimeScale For(IEnumerable<double> times)
    {
        double shortest = times.Where(time => time > 0).DefaultIfEmpty(1).Min();
        (string unit, double nanoseconds) = s_units.FirstOrDefault(unit => shortest >= unit.Nanoseconds, s_units[^1]);
        string format = (shortest / nanoseconds) switch
        {
            < 10 => "N2",
            < 100 => "N1",
            _ => "N0",
        };
        return new TimeScale(unit, nanoseconds, format);
    }

    /// <summary>Expresses a time, given in nanoseconds, in this unit.</summary>
    public double? Convert(double? time) => time / Nanoseconds;

    /// <summary>Writes a time, given in nanoseconds, with its unit.</summary>
    public string Write(double time) => (time / Nanoseconds).ToString(Format, CultureInfo.InvariantCulture) + " " + Unit;
}
