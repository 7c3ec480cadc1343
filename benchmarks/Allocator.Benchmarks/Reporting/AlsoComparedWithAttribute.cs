using System;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Adds a column of ratios to another method than the baseline, of which BenchmarkDotNet knows but one.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
internal sealed class AlsoComparedWithAttribute : Attribute
{
    /// <summary>Names the method.</summary>
    public AlsoComparedWithAttribute(string method) => Method = method;

    /// <summary>Gets the method's name.</summary>
    public string Method { get; }
}
