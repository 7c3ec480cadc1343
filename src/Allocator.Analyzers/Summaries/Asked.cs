namespace Allocator.Analyzers.Summaries;

/// <summary>What is asked about a method, a lambda or a variable.</summary>
internal enum Asked
{
    /// <summary>Where its result or value comes from.</summary>
    Value,

    /// <summary>Whether a constructor, or an initial value of a field, certainly makes an owner for its object.</summary>
    Making,

    /// <summary>Whether a method certainly makes an owner for its own object.</summary>
    Filling,

    /// <summary>Whether it may make one.</summary>
    PossibleFilling,
}
