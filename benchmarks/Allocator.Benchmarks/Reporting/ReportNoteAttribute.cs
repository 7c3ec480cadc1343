using System;

namespace Allocator.Benchmarks.Reporting;

/// <summary>Says what a reader must know to read the figures of a class of benchmarks.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
internal sealed class ReportNoteAttribute : Attribute
{
    /// <summary>Takes a sentence or two.</summary>
    public ReportNoteAttribute(string note) => Note = note;

    /// <summary>Gets the sentences.</summary>
    public string Note { get; }
}
