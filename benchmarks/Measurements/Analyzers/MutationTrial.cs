using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Measurements.Analyzers;

/// <summary>What became of one mutation.</summary>
/// <param name="Circumstance">What the owner goes through, to explain a miss.</param>
internal sealed record Outcome(string Place, bool Compiles, string? Rule, Circumstance Circumstance);

/// <summary>Makes one mistake at a time in a project, and looks whether the analyzer names the allocation that suffers.</summary>
internal sealed class MutationTrial(CorpusProject project)
{
    private readonly CorpusProject _project = project;

    public IEnumerable<Outcome> RemoveUsings(IEnumerable<OwnedLocal> locals) =>
        locals.Select(local => Try(local, UsingRemoval.Apply(local), Circumstances.Of(local.Symbol, local.Member, ModelOf(local))));

    public IEnumerable<Outcome> DisposeEarly(IEnumerable<OwnedLocal> locals) =>
        from local in locals
        where local.IsBuffer
        let model = ModelOf(local)
        let last = PrematureDispose.LastUse(local, model)
        where last is not null
        select Try(local, PrematureDispose.Apply(local, last), CircumstanceOf(local, last, model));

    private static Circumstance CircumstanceOf(OwnedLocal local, StatementSyntax last, SemanticModel model) =>
        Circumstances.Of(local.Symbol, local.Member, model) is not Circumstance.Plain and var circumstance
            ? circumstance
            : Circumstances.Of(local.Symbol, last, model);

    private SemanticModel ModelOf(OwnedLocal local) => _project.Compilation.GetSemanticModel(local.Variable.SyntaxTree);

    private Outcome Try(OwnedLocal local, SyntaxTree mutated, Circumstance circumstance)
    {
        SyntaxTree original = local.Variable.SyntaxTree;
        FileLinePositionSpan position = original.GetLineSpan(local.Variable.Span);
        string place = $"{_project.Name}/{Path.GetFileName(position.Path)}:{position.StartLinePosition.Line + 1}";
        CSharpCompilation compilation = _project.Compilation.ReplaceSyntaxTree(original, mutated);

        VariableDeclaratorSyntax variable = Refind(local, mutated);
        TextSpan member = variable.FirstAncestorOrSelf<MemberDeclarationSyntax>()!.Span;
        bool compiles = compilation.GetSemanticModel(mutated).GetDiagnostics(member).All(diagnostic => diagnostic.DefaultSeverity != DiagnosticSeverity.Error);
        Diagnostic? found = !compiles ? null : AnalyzerTrial.OfSpan(compilation, mutated, member)
            .FirstOrDefault(diagnostic => !diagnostic.IsSuppressed && diagnostic.AdditionalLocations.Any(location => variable.Span.Contains(location.SourceSpan)));
        return new Outcome(place, compiles, found?.Id, circumstance);
    }

    // Both trees have the same declarators in the same order: no mutation adds or takes one.
    private static VariableDeclaratorSyntax Refind(OwnedLocal local, SyntaxTree mutated)
    {
        int index = local.Variable.SyntaxTree.GetRoot().DescendantNodes().OfType<VariableDeclaratorSyntax>().TakeWhile(variable => variable != local.Variable).Count();
        return mutated.GetRoot().DescendantNodes().OfType<VariableDeclaratorSyntax>().ElementAt(index);
    }
}
