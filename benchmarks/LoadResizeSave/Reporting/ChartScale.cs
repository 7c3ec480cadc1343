using System;
using System.Collections.Generic;

namespace LoadResizeSave.Reporting;

/// <summary>One axis: values from zero to a round maximum, laid over a range of coordinates.</summary>
internal readonly struct ChartScale
{
    private readonly double _from;
    private readonly double _to;
    private readonly double _step;
    private readonly double _maximum;

    /// <summary>Lays values up to <paramref name="largest"/> from <paramref name="from"/> to <paramref name="to"/>, with up to <paramref name="ticks"/> marks above zero.</summary>
    public ChartScale(double largest, double from, double to, int ticks, bool roundUp)
    {
        _from = from;
        _to = to;
        double least = Math.Max(largest, 1e-3) / ticks;
        double magnitude = Math.Pow(10, Math.Floor(Math.Log10(least)));
        _step = magnitude * ((least / magnitude) switch { <= 1 => 1, <= 2 => 2, <= 5 => 5, _ => 10 });
        _maximum = roundUp ? _step * Math.Ceiling(largest / _step) : largest;
    }

    /// <summary>Gets the values to be marked, zero included.</summary>
    public IEnumerable<double> Ticks
    {
        get
        {
            for (int i = 0; i * _step <= _maximum * 1.0001; i++)
            {
                yield return i * _step;
            }
        }
    }

    /// <summary>Returns the coordinate of <paramref name="value"/>.</summary>
    public double this[double value] => _from + ((_to - _from) * value / _maximum);
}
