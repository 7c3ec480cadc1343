namespace Measurements.Copies;

/// <summary>What one kind of memory is to do next.</summary>
/// <param name="IsWarm">Whether the buffers are those that are kept.</param>
/// <param name="Test">The test: 0 allocates and frees, those that follow are <see cref="PageCopies.All"/>.</param>
/// <param name="Seed">What the source is filled from where the copy is compared with it.</param>
/// <param name="IsCompared">Whether it is.</param>
internal readonly record struct CopyStep(bool IsWarm, int Test, int Seed, bool IsCompared)
{
    public static CopyStep Parse(string line)
    {
        int[] numbers = Array.ConvertAll(line.Split(' '), text => int.Parse(text, CultureInfo.InvariantCulture));
        return new CopyStep(numbers[0] != 0, numbers[1], numbers[2], numbers[3] != 0);
    }

    public string ToLine() => string.Create(CultureInfo.InvariantCulture, $"{(IsWarm ? 1 : 0)} {Test} {Seed} {(IsCompared ? 1 : 0)}");
}

/// <summary>One trial of one test with one kind of memory.</summary>
internal readonly record struct Trial(double Milliseconds, long Faults)
{
    public static Trial Parse(string line)
    {
        string[] numbers = line.Split(' ');
        return new Trial(double.Parse(numbers[0], CultureInfo.InvariantCulture), long.Parse(numbers[1], CultureInfo.InvariantCulture));
    }

    public string ToLine() => string.Create(CultureInfo.InvariantCulture, $"{Milliseconds:R} {Faults}");
}
