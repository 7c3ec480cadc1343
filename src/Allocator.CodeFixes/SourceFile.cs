using Allocator.Analyzers.Summaries;
using Allocator.Analyzers.Symbols;

namespace Allocator.CodeFixes;

/// <summary>A document before a fix: its text, its syntax and its semantic model.</summary>
internal sealed class SourceFile
{
    private readonly Document _document;
    private readonly SemanticModel _model;
    private readonly CancellationToken _cancellationToken;
    private readonly Lazy<KnownSymbols?> _known;

    private SourceFile(Document document, SyntaxNode root, SemanticModel model, SourceText text, CancellationToken cancellationToken)
    {
        _document = document;
        _model = model;
        _cancellationToken = cancellationToken;
        _known = new Lazy<KnownSymbols?>(() => KnownSymbols.Resolve(model.Compilation));
        Root = root;
        Text = text;
    }

    public SyntaxNode Root { get; }

    /// <summary>Gets what the analyzer knows about the compilation, or null if it does not reference the allocator.</summary>
    public KnownSymbols? Known => _known.Value;

    public SourceText Text { get; }

    public LanguageVersion Language => ((CSharpParseOptions)Root.SyntaxTree.Options).LanguageVersion;

    /// <summary>Reads <paramref name="document"/>. Returns null if it cannot be compiled.</summary>
    public static async Task<SourceFile?> ReadAsync(Document document, CancellationToken cancellationToken)
    {
        SyntaxNode? root = await document.GetSyntaxRootAsync(cancellationToken).ConfigureAwait(false);
        SemanticModel? model = await document.GetSemanticModelAsync(cancellationToken).ConfigureAwait(false);
        SourceText text = await document.GetTextAsync(cancellationToken).ConfigureAwait(false);
        return root is null || model is null ? null : new SourceFile(document, root, model, text, cancellationToken);
    }

    public ITypeSymbol? TypeOf(ExpressionSyntax expression) => _model.GetTypeInfo(expression, _cancellationToken).Type;

    public ISymbol? SymbolOf(ExpressionSyntax expression) => _model.GetSymbolInfo(expression, _cancellationToken).Symbol;

    public ISymbol? DeclaredBy(SyntaxNode declaration) => _model.GetDeclaredSymbol(declaration, _cancellationToken);

    /// <summary>Gets whether <paramref name="called"/> can be nothing but <paramref name="method"/>, whatever the arguments are.</summary>
    public bool IsNotOverloaded(ExpressionSyntax called, IMethodSymbol method) =>
        _model.GetMemberGroup(called, _cancellationToken).All(candidate => SymbolEqualityComparer.Default.Equals(candidate, method));

    public IMethodSymbol? FunctionAround(SyntaxNode node) =>
        _model.GetEnclosingSymbol(node.SpanStart, _cancellationToken) as IMethodSymbol;

    /// <summary>Gets whether the new object that <paramref name="argument"/> is given to owns it from then on.</summary>
    public bool IsTakenOver(ArgumentSyntax argument) =>
        argument is { Parent: ArgumentListSyntax { Parent: ExpressionSyntax creation, Arguments: var arguments } }
        && SymbolOf(creation) is IMethodSymbol { Parameters: var parameters }
        && (argument.NameColon is { } named
            ? parameters.FirstOrDefault(one => one.Name == named.Name.Identifier.ValueText)
            : parameters.ElementAtOrDefault(arguments.IndexOf(argument))) is { } parameter
        && Known is { } known
        && known.Owning.Takes(parameter) && known.Summaries.Of(parameter) == Passing.Returned;

    public bool IsNull(ExpressionSyntax expression) =>
        _model.GetConstantValue(expression, _cancellationToken) is { HasValue: true, Value: null };

    /// <summary>Gets whether <paramref name="lambda"/> is data, or part of a query that may be: then it has no statements.</summary>
    public bool IsExpressionTree(LambdaExpressionSyntax lambda) => lambda.AncestorsAndSelf().Any(node =>
        node is QueryExpressionSyntax || (node is LambdaExpressionSyntax outer && IsExpression(outer)));

    /// <summary>Returns how <paramref name="type"/> is written at the place of <paramref name="node"/>.</summary>
    public string NameOf(ITypeSymbol type, SyntaxNode node) => type.ToMinimalDisplayString(_model, node.SpanStart);

    /// <summary>Gets whether <c>.editorconfig</c> sets it.</summary>
    public bool Prefers(string option) =>
        _document.Project.AnalyzerOptions.AnalyzerConfigOptionsProvider.GetOptions(Root.SyntaxTree).TryGetValue(option, out string? value)
        && value.StartsWith("true", System.StringComparison.Ordinal);

    private bool IsExpression(LambdaExpressionSyntax lambda) =>
        _model.GetTypeInfo(lambda, _cancellationToken).ConvertedType is
        {
            Name: "Expression" or "LambdaExpression", ContainingNamespace.Name: "Expressions",
        };
}
