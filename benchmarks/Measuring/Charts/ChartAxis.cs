namespace Measuring.Charts;

/// <summary>A scale laid over a range of coordinates.</summary>
/// <param name="Scale">The scale.</param>
/// <param name="From">The coordinate of its near end, in pixels.</param>
/// <param name="To">The coordinate of its far end, in pixels.</param>
public readonly record struct ChartAxis(ChartScale Scale, double From, double To)
{
    /// <summary>Returns the coordinate of <paramref name="value"/>, in pixels.</summary>
    public double this[double value] => From + ((To - From) * Scale.Locate(value));
}
