namespace Decisions.TrimLatency;

/// <summary>What one window showed. Latencies in nanoseconds.</summary>
internal sealed record WindowFigures
{
    /// <summary>Gets the parts of all operations that <see cref="Latencies"/> are about, the last of them being all.</summary>
    public static readonly double[] Fractions = [0.5, 0.99, 0.999, 0.9999, 1];

    /// <summary>Gets the names of <see cref="Fractions"/>.</summary>
    public static readonly string[] Names = ["median", "p99", "p99.9", "p99.99", "max"];

    /// <summary>Gets which of <see cref="Fractions"/> the target is about.</summary>
    public const int Target = 2;

    /// <summary>Gets how many operations there were.</summary>
    public required long Operations { get; init; }

    /// <summary>Gets how long the window was, in milliseconds.</summary>
    public required double Milliseconds { get; init; }

    /// <summary>Gets by how much the process's resident memory fell, in bytes.</summary>
    public required long GivenBack { get; init; }

    /// <summary>Gets the latencies at <see cref="Fractions"/>.</summary>
    public required double[] Latencies { get; init; }
}
