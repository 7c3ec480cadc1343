namespace Allocator.CodeFixes.Using;

/// <summary>A variable that is declared first and given its only owner later, in the same block.</summary>
internal sealed class LateDeclaration
{
    private readonly LocalDeclarationStatementSyntax _declaration;
    private readonly ExpressionStatementSyntax _assignment;

    private LateDeclaration(LocalDeclarationStatementSyntax declaration, ExpressionStatementSyntax assignment)
    {
        _declaration = declaration;
        _assignment = assignment;
    }

    /// <summary>Returns the declaration of the variable that <paramref name="owner"/> is assigned to; null if it cannot move.</summary>
    public static LateDeclaration? Of(ExpressionSyntax owner, SourceFile source)
    {
        if (AllocatedOwner.WithParentheses(owner).Parent is not AssignmentExpressionSyntax
            {
                Left: IdentifierNameSyntax variable, Parent: ExpressionStatementSyntax { Parent: BlockSyntax block } assignment,
            }
            || source.SymbolOf(variable) is not ILocalSymbol { RefKind: RefKind.None } local || !Disposable.Is(local.Type))
        {
            return null;
        }

        LocalDeclarationStatementSyntax? declaration = block.Statements.TakeWhile(statement => statement != assignment)
            .OfType<LocalDeclarationStatementSyntax>().FirstOrDefault(statement => Declares(statement, local, source));
        IdentifierNameSyntax[] uses = block.DescendantNodes().OfType<IdentifierNameSyntax>()
            .Where(name => name.Identifier.ValueText == local.Name).ToArray();
        bool isFirst = uses.FirstOrDefault() == variable && uses.Skip(1).All(name => !Assignments.Change(local, name));
        return declaration is not null && isFirst && BeginsAndEndsItsLine(declaration, source)
            && UsingScope.Allows(assignment, source) ? new LateDeclaration(declaration, assignment) : null;
    }

    public IEnumerable<TextSpan> Touched => new[] { _declaration.Span, _assignment.Span };

    public IEnumerable<TextChange> Changes(SourceText text)
    {
        TextLine line = text.Lines.GetLineFromPosition(_declaration.SpanStart);
        yield return new TextChange(line.SpanIncludingLineBreak, "");
        yield return new TextChange(new TextSpan(_assignment.SpanStart, 0), $"using {_declaration.Declaration.Type} ");
    }

    private static bool Declares(LocalDeclarationStatementSyntax statement, ILocalSymbol local, SourceFile source) =>
        statement is
        {
            UsingKeyword.RawKind: 0, Modifiers.Count: 0,
            Declaration: { Type.IsVar: false, Variables: { Count: 1 } variables },
        }
        && SymbolEqualityComparer.Default.Equals(source.DeclaredBy(variables[0]), local)
        && (variables[0].Initializer is not { Value: var value } || source.IsNull(value));

    private static bool BeginsAndEndsItsLine(LocalDeclarationStatementSyntax declaration, SourceFile source)
    {
        TextLine line = source.Text.Lines.GetLineFromPosition(declaration.SpanStart);
        return !declaration.ContainsDirectives
            && source.Text.ToString(line.Span).Trim() == source.Text.ToString(declaration.Span);
    }
}
