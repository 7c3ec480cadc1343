using Microsoft.CodeAnalysis.CodeFixes;

namespace Allocator.Analyzers.Tests.CodeFixes.Fixing;

/// <summary>Tells "fix all" what to fix.</summary>
internal sealed class KnownDiagnostics(ImmutableArray<Diagnostic> all) : FixAllContext.DiagnosticProvider
{
    public override Task<IEnumerable<Diagnostic>> GetAllDiagnosticsAsync(Project project, CancellationToken cancellationToken) =>
        Task.FromResult<IEnumerable<Diagnostic>>(all);

    public override async Task<IEnumerable<Diagnostic>> GetDocumentDiagnosticsAsync(Document document, CancellationToken cancellationToken)
    {
        SyntaxTree? tree = await document.GetSyntaxTreeAsync(cancellationToken);
        return all.Where(diagnostic => diagnostic.Location.SourceTree == tree);
    }

    public override Task<IEnumerable<Diagnostic>> GetProjectDiagnosticsAsync(Project project, CancellationToken cancellationToken) =>
        Task.FromResult<IEnumerable<Diagnostic>>([]);
}
