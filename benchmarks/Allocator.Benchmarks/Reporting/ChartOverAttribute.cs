using System;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Asks for a chart of the times over a parameter that is a number, a line for each method; logarithmic, both ways.</summary>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class ChartOverAttribute : Attribute
{
    /// <summary>Names the parameter, and the axis with its unit.</summary>
    public ChartOverAttribute(string parameter, string axis)
    {
        Parameter = parameter;
        Axis = axis;
    }

    /// <summary>Gets the name of the parameter.</summary>
    public string Parameter { get; }

    /// <summary>Gets the label of the axis.</summary>
    public string Axis { get; }
}
