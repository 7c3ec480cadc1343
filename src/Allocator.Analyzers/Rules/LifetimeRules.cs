namespace Allocator.Analyzers.Rules;

/// <summary>What each rule is called, how loud it is, and what it tells.</summary>
internal static class LifetimeRules
{
    public static readonly DiagnosticDescriptor Finalizable = Create(
        RuleIds.Finalizable,
        "Span used while its owner can be finalized",
        "Nothing uses the owner allocated on line {0} after this point: the GC may finalize it and hand its memory out again while "
            + "this span is in use. Declare the owner with 'using'.",
        "A span, ref or pointer does not keep its owner alive. Dispose the owner after the last use, best by 'using'.");

    public static readonly DiagnosticDescriptor UsedAfterDispose = Create(
        RuleIds.UsedAfterDispose,
        "Buffer used after its owner was disposed",
        "The owner allocated on line {0} has been disposed on every path to this use, and its memory may belong to another renter. "
            + "Dispose it after the last use.",
        "A disposed owner throws, and a span or pointer obtained earlier reads and writes memory that may be rented by others.");

    public static readonly DiagnosticDescriptor OutlivesOwner = Create(
        RuleIds.OutlivesOwner,
        "Returned or stored buffer outlives its owner",
        "This value is backed by the owner allocated on line {0}, which does not outlive the method. Hand out the owner itself, or "
            + "copy the data.",
        "The caller, or code that reads the field, receives memory that is disposed or can be finalized.");

    public static readonly DiagnosticDescriptor NeverDisposed = Create(
        RuleIds.NeverDisposed,
        "Owner never disposed",
        "This owner is never disposed and never leaves the method. Declare it with 'using'.",
        "Memory that is not disposed comes back only when the GC finalizes its owner, and is then kept in quarantine.");

    public static readonly DiagnosticDescriptor Unawaited = Create(
        RuleIds.Unawaited,
        "Buffer handed to an operation that outlives its owner",
        "The owner allocated on line {0} is disposed before the task of this call has completed. Await the task first.",
        "The operation goes on reading or writing memory that may already belong to another renter.");

    public static readonly DiagnosticDescriptor SomePaths = Create(
        RuleIds.SomePaths,
        "Owner not disposed on some paths",
        "The owner allocated on line {0} is disposed or handed on elsewhere, and lost here. Declare it with 'using', or dispose it here "
            + "too.",
        "An early return leaves the owner behind, or a loop overwrites the only variable that has it.",
        DiagnosticSeverity.Info);

    public static readonly ImmutableArray<DiagnosticDescriptor> All =
        ImmutableArray.Create(Finalizable, UsedAfterDispose, OutlivesOwner, NeverDisposed, Unawaited, SomePaths);

    // The pages come with the analyzers too, and are of the same version.
    private static DiagnosticDescriptor Create(
        string id, string title, string message, string description, DiagnosticSeverity severity = DiagnosticSeverity.Warning) =>
        new(id, title, message, RuleIds.Category, severity, isEnabledByDefault: true,
            $"{description} More in docs/rules/{id}.md of the package.", HelpPage.AddressOf(id));
}
