namespace Measurements.Analyzers;

/// <summary>What an owner goes through in its member, the first that applies: why the analyzer may have nothing to say.</summary>
internal enum Circumstance
{
    Plain,

    Captured,

    /// <summary>It, or its memory, is passed to a method that does not say that it borrows.</summary>
    Passed,

    Stored,

    Pinned,

    OnlyMeasured,
}
