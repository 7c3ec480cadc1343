using Allocator.Analyzers.Graph;
using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Checks;

/// <summary>Reports at most once for each allocation, because one mistake tends to show in many places.</summary>
internal sealed class Reporter
{
    /// <summary>The property of a diagnostic about an owner that <c>using</c> would dispose too early.</summary>
    public const string OutlivesUsing = nameof(OutlivesUsing);

    private static readonly ImmutableDictionary<string, string?> s_outlives =
        ImmutableDictionary<string, string?>.Empty.Add(OutlivesUsing, null);

    private readonly SiteTable _sites;
    private readonly List<(int, DiagnosticDescriptor, Location, DiagnosticSeverity, object?)> _found = new();
    private ulong _reported;

    public Reporter(SiteTable sites) => _sites = sites;

    public void Report(DiagnosticDescriptor rule, IOperation operation, ulong sites, Func<int, object>? detail = null) =>
        Report(rule, PlaceOf(operation.Syntax), sites, rule.DefaultSeverity, detail);

    public void Report(
        DiagnosticDescriptor rule, Location place, ulong sites, DiagnosticSeverity severity, Func<int, object>? detail = null)
    {
        ulong remaining = sites & ~_reported;
        _reported |= remaining;
        for (int i = 0; remaining != 0; i++, remaining >>= 1)
        {
            if ((remaining & 1) != 0)
            {
                _found.Add((i, rule, place, severity, detail?.Invoke(i)));
            }
        }
    }

    /// <summary>Passes the reports on once it is known which owners leave the body or are in use when it ends.</summary>
    public void Finish(ulong outliving, Action<Diagnostic> report)
    {
        foreach ((int site, DiagnosticDescriptor rule, Location place, DiagnosticSeverity severity, object? detail) in _found)
        {
            bool outlives = (outliving >> site & 1) != 0;
            DiagnosticDescriptor said = !outlives ? rule
                : rule == LifetimeRules.Finalizable ? LifetimeRules.FinalizableHere
                : rule == LifetimeRules.NeverDisposed ? LifetimeRules.LeftToTask
                : rule;
            Location allocation = _sites[site].Operation.Syntax.GetLocation();
            int line = allocation.GetLineSpan().StartLinePosition.Line + 1;
            report(Diagnostic.Create(said, place, severity, new[] { allocation }, outlives ? s_outlives : null, line, detail));
        }
    }

    // What a `foreach` reads in each round is not in the source, but the compiler knows the type of the variable.
    private static Location PlaceOf(SyntaxNode syntax) =>
        (syntax.Parent is CommonForEachStatementSyntax loop && syntax != loop.Statement ? loop.Expression : syntax).GetLocation();
}
