namespace AnalyzerReach.Mutations;

/// <summary>What an owner goes through in its member, the first that applies: why the analyzer may have nothing to say.</summary>
internal enum Circumstance
{
    /// <summary>Nothing that would make it lose sight.</summary>
    Plain,

    /// <summary>A lambda or local function uses it.</summary>
    Captured,

    /// <summary>It, or its memory, is passed to a method that does not say that it borrows.</summary>
    Passed,

    /// <summary>It, or its memory, is stored or returned.</summary>
    Stored,

    /// <summary>Only its length, width or the like is asked for.</summary>
    OnlyMeasured,
}
