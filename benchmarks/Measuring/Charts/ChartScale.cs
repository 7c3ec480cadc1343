using System.Collections.Generic;

namespace Measuring.Charts;

/// <summary>The values that an axis shows, and the marks on it.</summary>
public abstract class ChartScale
{
    /// <summary>Gets the marks that are labelled, the least first.</summary>
    public abstract IReadOnlyList<ChartTick> Ticks { get; }

    /// <summary>Gets the values between them that deserve a fainter line.</summary>
    public virtual IReadOnlyList<double> MinorTicks => [];

    /// <summary>Gets the value at the near end of the axis.</summary>
    public abstract double Minimum { get; }

    /// <summary>Gets the value at the far end of the axis.</summary>
    public abstract double Maximum { get; }

    /// <summary>Returns where <paramref name="value"/> lies: 0 at the near end of the axis, 1 at the far one.</summary>
    public abstract double Locate(double value);

    /// <summary>Tells whether <paramref name="value"/> has a place on a scale of this kind.</summary>
    public virtual bool CanShow(double value) => double.IsFinite(value);
}
