using System.Collections.Generic;

namespace Measuring.Charts;

/// <summary>A mark on an axis.</summary>
public readonly record struct ChartTick(double Value, string Label);

/// <summary>A scale laid over a range of coordinates.</summary>
public readonly record struct ChartAxis(ChartScale Scale, double From, double To)
{
    public double this[double value] => From + ((To - From) * Scale.Locate(value));
}

/// <summary>The values that an axis shows, and the marks on it.</summary>
public abstract class ChartScale
{
    public abstract IReadOnlyList<ChartTick> Ticks { get; }

    public virtual IReadOnlyList<double> MinorTicks => [];

    public abstract double Minimum { get; }

    public abstract double Maximum { get; }

    /// <summary>Returns where <paramref name="value"/> lies: 0 at the near end of the axis, 1 at the far one.</summary>
    public abstract double Locate(double value);

    public virtual bool CanShow(double value) => double.IsFinite(value);
}
