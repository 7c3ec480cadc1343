namespace Allocator.Analyzers.Rules;

/// <summary>The identifiers of the rules, by what they find.</summary>
public static class RuleIds
{
    /// <summary>A span is used while its owner can be finalized.</summary>
    public const string Finalizable = "ALLOC001";

    /// <summary>A buffer is used after its owner was disposed.</summary>
    public const string UsedAfterDispose = "ALLOC002";

    /// <summary>A returned or stored buffer outlives its owner.</summary>
    public const string OutlivesOwner = "ALLOC003";

    /// <summary>An owner is never disposed.</summary>
    public const string NeverDisposed = "ALLOC004";

    /// <summary>A buffer is handed to an operation that outlives its owner.</summary>
    public const string Unawaited = "ALLOC005";

    /// <summary>An owner is disposed on some paths and lost on another.</summary>
    public const string SomePaths = "ALLOC006";

    /// <summary>The category of all rules.</summary>
    public const string Category = "Allocator.Lifetime";
}
