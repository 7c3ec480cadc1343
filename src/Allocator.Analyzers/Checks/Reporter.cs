using Allocator.Analyzers.Graph;

namespace Allocator.Analyzers.Checks;

/// <summary>Reports at most once for each allocation, because one mistake tends to show in many places.</summary>
internal sealed class Reporter
{
    private readonly SiteTable _sites;
    private readonly Action<Diagnostic> _report;

    public Reporter(SiteTable sites, Action<Diagnostic> report)
    {
        _sites = sites;
        _report = report;
    }

    /// <summary>Gets the allocations that were reported.</summary>
    public ulong Reported { get; private set; }

    public void Report(DiagnosticDescriptor rule, IOperation operation, ulong sites, Func<int, object>? detail = null) =>
        Report(rule, PlaceOf(operation.Syntax), sites, rule.DefaultSeverity, detail);

    public void Report(
        DiagnosticDescriptor rule, Location place, ulong sites, DiagnosticSeverity severity, Func<int, object>? detail = null)
    {
        ulong remaining = sites & ~Reported;
        Reported |= remaining;
        for (int i = 0; remaining != 0; i++, remaining >>= 1)
        {
            if ((remaining & 1) != 0)
            {
                Location allocation = _sites[i].Operation.Syntax.GetLocation();
                int line = allocation.GetLineSpan().StartLinePosition.Line + 1;
                IEnumerable<Location> additional = new[] { allocation };
                _report(Diagnostic.Create(rule, place, severity, additional, null, line, detail?.Invoke(i)));
            }
        }
    }

    // The source does not contain what a `foreach` reads in each round: the compiler knows the type of the variable.
    private static Location PlaceOf(SyntaxNode syntax) =>
        (syntax.Parent is CommonForEachStatementSyntax loop && syntax != loop.Statement ? loop.Expression : syntax).GetLocation();
}
