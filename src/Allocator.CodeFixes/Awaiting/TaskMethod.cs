namespace Allocator.CodeFixes.Awaiting;

/// <summary>A method, local function or lambda with a body of statements.</summary>
internal sealed class TaskMethod : IEquatable<TaskMethod>
{
    private TaskMethod(SyntaxNode declaration, IMethodSymbol symbol, BlockSyntax body, int asyncPosition)
    {
        Declaration = declaration;
        Symbol = symbol;
        Body = body;
        AsyncPosition = asyncPosition;
        Returns = OwnNodes(body).OfType<ReturnStatementSyntax>().ToArray();
    }

    public SyntaxNode Declaration { get; }

    public IMethodSymbol Symbol { get; }

    public BlockSyntax Body { get; }

    /// <summary>Gets where <c>async</c> goes.</summary>
    public int AsyncPosition { get; }

    public IReadOnlyList<ReturnStatementSyntax> Returns { get; }

    /// <summary>Returns the method around <paramref name="node"/>; null for an accessor, or a lambda whose type others infer.</summary>
    public static TaskMethod? Around(SyntaxNode node, SourceFile source) => node.Ancestors().FirstOrDefault(IsFunction) switch
    {
        MethodDeclarationSyntax { Body: { } body } method when source.DeclaredBy(method) is IMethodSymbol symbol =>
            new TaskMethod(method, symbol, body, PositionOfAsync(method.ReturnType, method.Modifiers)),
        LocalFunctionStatementSyntax { Body: { } body } function when source.DeclaredBy(function) is IMethodSymbol symbol =>
            new TaskMethod(function, symbol, body, PositionOfAsync(function.ReturnType, function.Modifiers)),
        LambdaExpressionSyntax { Block: { } body, AttributeLists.Count: 0 } lambda
            when source.SymbolOf(lambda) is IMethodSymbol symbol && HasTypeOfItsOwn(lambda, source) =>
            new TaskMethod(lambda, symbol, body, lambda.SpanStart),
        _ => null,
    };

    /// <summary>Returns the nodes below <paramref name="node"/> that belong to the same function.</summary>
    public static IEnumerable<SyntaxNode> OwnNodes(SyntaxNode node) => node.DescendantNodes(child => !IsFunction(child));

    /// <summary>Gets whether <paramref name="statement"/> is the last of the method, with a <c>return</c> or without.</summary>
    public bool EndsWith(StatementSyntax statement)
    {
        SyntaxNode node = statement;
        while (node != Body)
        {
            bool isLast = node.Parent switch
            {
                BlockSyntax block => block.Statements.Last(sibling => sibling is not LocalFunctionStatementSyntax) == node,
                IfStatementSyntax or ElseClauseSyntax or UsingStatementSyntax or TryStatementSyntax or CatchClauseSyntax => true,
                _ => false,
            };
            if (!isLast)
            {
                return false;
            }

            node = node.Parent!;
        }

        return true;
    }

    public bool Equals(TaskMethod? other) => Declaration == other?.Declaration;

    public override bool Equals(object? obj) => Equals(obj as TaskMethod);

    public override int GetHashCode() => Declaration.GetHashCode();

    // `partial` has to stand right before the return type.
    private static int PositionOfAsync(TypeSyntax returnType, SyntaxTokenList modifiers)
    {
        SyntaxToken partial = modifiers.FirstOrDefault(modifier => modifier.IsKind(SyntaxKind.PartialKeyword));
        return partial.RawKind == 0 ? returnType.SpanStart : partial.SpanStart;
    }

    // If the lambda decides a type argument or an overload, `async` may change which.
    private static bool HasTypeOfItsOwn(LambdaExpressionSyntax lambda, SourceFile source) => lambda.Parent switch
    {
        ArrowExpressionClauseSyntax or ReturnStatementSyntax or AssignmentExpressionSyntax => true,
        EqualsValueClauseSyntax { Parent: VariableDeclaratorSyntax { Parent: VariableDeclarationSyntax { Type.IsVar: false } } } => true,
        ArgumentSyntax { Parent.Parent: InvocationExpressionSyntax { Expression: { } called } } =>
            source.SymbolOf(called) is IMethodSymbol { IsGenericMethod: false } method && source.IsNotOverloaded(called, method),
        _ => false,
    };

    private static bool IsFunction(SyntaxNode node) => node
        is BaseMethodDeclarationSyntax
        or LocalFunctionStatementSyntax
        or AnonymousFunctionExpressionSyntax
        or AccessorDeclarationSyntax;
}
