using System.Collections.Generic;

namespace Measuring.Charts;

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
