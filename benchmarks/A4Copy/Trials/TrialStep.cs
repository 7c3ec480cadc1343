using System;
using System.Globalization;

namespace A4Copy.Trials;

/// <summary>What one kind of memory is to do next.</summary>
/// <param name="IsWarm">Whether the buffers are those that are kept.</param>
/// <param name="Test">The test: 0 allocates and frees, those that follow are <see cref="Copying.CopyMethod.All"/>.</param>
/// <param name="Seed">What the source is filled from where the copy is compared with it.</param>
/// <param name="IsCompared">Whether it is.</param>
internal readonly record struct TrialStep(bool IsWarm, int Test, int Seed, bool IsCompared)
{
    /// <summary>Reads what <see cref="ToLine"/> wrote.</summary>
    public static TrialStep Parse(string line)
    {
        int[] numbers = Array.ConvertAll(line.Split(' '), text => int.Parse(text, CultureInfo.InvariantCulture));
        return new TrialStep(numbers[0] != 0, numbers[1], numbers[2], numbers[3] != 0);
    }

    /// <summary>Writes the step as one line.</summary>
    public string ToLine() => string.Create(CultureInfo.InvariantCulture, $"{(IsWarm ? 1 : 0)} {Test} {Seed} {(IsCompared ? 1 : 0)}");
}
