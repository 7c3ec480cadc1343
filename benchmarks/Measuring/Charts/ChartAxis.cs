namespace Measuring.Charts;

/// <summary>A scale laid over a range of coordinates.</summary>
public readonly record struct ChartAxis(ChartScale Scale, double From, double To)
{
    public double this[double value] => From + ((To - From) * Scale.Locate(value));
}
