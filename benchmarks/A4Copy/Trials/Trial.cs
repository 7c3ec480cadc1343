using System.Globalization;

namespace A4Copy.Trials;

/// <summary>One trial of one test with one kind of memory.</summary>
/// <param name="Milliseconds">How long it took.</param>
/// <param name="Faults">Its page faults.</param>
internal readonly record struct Trial(double Milliseconds, long Faults)
{
    /// <summary>Reads what <see cref="ToLine"/> wrote.</summary>
    public static Trial Parse(string line)
    {
        string[] numbers = line.Split(' ');
        return new Trial(double.Parse(numbers[0], CultureInfo.InvariantCulture), long.Parse(numbers[1], CultureInfo.InvariantCulture));
    }

    /// <summary>Writes the trial as one line.</summary>
    public string ToLine() => string.Create(CultureInfo.InvariantCulture, $"{Milliseconds:R} {Faults}");
}
