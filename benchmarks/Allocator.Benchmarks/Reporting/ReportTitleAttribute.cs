using System;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Says what a class of benchmarks measures, as a heading.</summary>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class ReportTitleAttribute : Attribute
{
    /// <summary>Takes the heading.</summary>
    public ReportTitleAttribute(string title) => Title = title;

    /// <summary>Gets the heading.</summary>
    public string Title { get; }
}
