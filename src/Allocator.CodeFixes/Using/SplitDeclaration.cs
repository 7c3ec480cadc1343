namespace Allocator.CodeFixes.Using;

/// <summary>Declares variables of one statement with <c>using</c>; each gets a statement of its own if there are several.</summary>
internal static class SplitDeclaration
{
    /// <summary>Returns the changes that put <c>using</c> before <paramref name="owners"/>, and before no other variable.</summary>
    public static IEnumerable<TextChange> Changes(
        LocalDeclarationStatementSyntax declaration, HashSet<VariableDeclaratorSyntax> owners, Layout layout, SourceText text)
    {
        SeparatedSyntaxList<VariableDeclaratorSyntax> variables = declaration.Declaration.Variables;
        if (owners.Contains(variables[0]))
        {
            yield return new TextChange(new TextSpan(declaration.SpanStart, 0), "using ");
        }

        for (int i = 1; i < variables.Count; i++)
        {
            SyntaxToken comma = variables.GetSeparator(i - 1);
            int start = variables[i].SpanStart;
            yield return new TextChange(comma.Span, ";");

            // A variable that has a line keeps it; a comment before one stays there.
            bool hasItsLine = text.BeginsItsLine(start);
            int gap = hasItsLine ? text.Lines.GetLineFromPosition(start).Start : comma.Span.End;
            bool isBlank = string.IsNullOrWhiteSpace(text.ToString(TextSpan.FromBounds(gap, start)));
            string before = hasItsLine ? text.IndentationAt(declaration.SpanStart)
                : text.BeginsItsLine(declaration.SpanStart) ? layout.NewLine(declaration.SpanStart)
                : " ";
            yield return new TextChange(
                isBlank ? TextSpan.FromBounds(gap, start) : new TextSpan(start, 0),
                $"{(isBlank ? before : "")}{(owners.Contains(variables[i]) ? "using " : "")}{declaration.Declaration.Type} ");
        }
    }
}
