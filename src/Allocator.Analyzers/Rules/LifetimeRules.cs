namespace Allocator.Analyzers.Rules;

/// <summary>The rules: their titles, severities and messages.</summary>
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
        "The owner allocated on line {0} was disposed on line {1}, and its memory may belong to another renter. Dispose it after the last "
            + "use.",
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
        "This return loses the owner allocated on line {0}. Dispose it before returning.",
        "An early return leaves the owner behind, or a loop overwrites the only variable that has it.",
        DiagnosticSeverity.Info);

    /// <summary>The message of <see cref="Finalizable"/> for an owner that leaves the method on another path.</summary>
    public static readonly DiagnosticDescriptor FinalizableHere = Saying(
        Finalizable,
        "On this path nothing uses the owner allocated on line {0} after this point: the GC may finalize it and hand its memory out again "
            + "while this span is in use. Dispose it before the path leaves the method.");

    /// <summary>The message of <see cref="NeverDisposed"/> for an owner that a task may still use when the method ends.</summary>
    public static readonly DiagnosticDescriptor LeftToTask =
        Saying(NeverDisposed, "This owner is never disposed. Dispose it once the task that uses it has ended.");

    /// <summary>The message of <see cref="OutlivesOwner"/> for an owner that is declared with <c>using</c> and returned.</summary>
    public static readonly DiagnosticDescriptor ReturnedFromUsing =
        Saying(OutlivesOwner, "'using' disposes this owner when the method returns. Remove 'using'; the caller disposes.");

    /// <summary>The message of <see cref="NeverDisposed"/> for a call whose result is dropped.</summary>
    public static readonly DiagnosticDescriptor Dropped =
        Saying(NeverDisposed, "'{1}' returns a new owner that nothing disposes. Keep it in a 'using' variable.");

    /// <summary>The message of <see cref="Unawaited"/> in a method that cannot await yet.</summary>
    public static readonly DiagnosticDescriptor UnawaitedOutsideAsync = Saying(
        Unawaited,
        "The owner allocated on line {0} is disposed before the task of this call has completed. Make the method async and await the "
            + "task, so that the owner is disposed afterwards.");

    /// <summary>What <see cref="Unawaited"/> tells of an <c>async void</c> method and of work for the thread pool.</summary>
    public static readonly DiagnosticDescriptor Unawaitable = Saying(
        Unawaited,
        "The owner allocated on line {0} is disposed while the work that this call begins may still use it. Let the work dispose the "
            + "owner.");

    /// <summary>What <see cref="SomePaths"/> tells of another statement that leaves, as <c>throw</c> and <c>continue</c> do.</summary>
    public static readonly DiagnosticDescriptor LostByJump =
        Saying(SomePaths, "This '{1}' loses the owner allocated on line {0}. Dispose it first.");

    /// <summary>What <see cref="SomePaths"/> tells of a loop.</summary>
    public static readonly DiagnosticDescriptor LostByLoop =
        Saying(SomePaths, "This assignment drops the owner of the previous round. Dispose that first.");

    public static readonly ImmutableArray<DiagnosticDescriptor> All =
        ImmutableArray.Create(Finalizable, UsedAfterDispose, OutlivesOwner, NeverDisposed, Unawaited, SomePaths);

    // The same rule with a message for one case of it.
    private static DiagnosticDescriptor Saying(DiagnosticDescriptor rule, string message) =>
        new(rule.Id, rule.Title, message, rule.Category, rule.DefaultSeverity, rule.IsEnabledByDefault, rule.Description,
            rule.HelpLinkUri);

    // The package contains the pages too, in the version of the analyzers.
    private static DiagnosticDescriptor Create(
        string id, string title, string message, string description, DiagnosticSeverity severity = DiagnosticSeverity.Warning) =>
        new(id, title, message, RuleIds.Category, severity, isEnabledByDefault: true,
            $"{description} More in docs/rules/{id}.md of the package.", HelpPage.AddressOf(id));
}
