namespace Allocator.CodeFixes;

/// <summary>How the lines of a source are laid out.</summary>
internal static class SourceLines
{
    private const string DefaultStep = "    ";

    /// <summary>Gets whether there is only white space before <paramref name="position"/> on its line.</summary>
    public static bool BeginsItsLine(this SourceText text, int position) =>
        text.Lines.GetLineFromPosition(position).Start + text.IndentationAt(position).Length == position;

    /// <summary>Gets the white space that begins the line of <paramref name="position"/>.</summary>
    public static string IndentationAt(this SourceText text, int position)
    {
        TextLine line = text.Lines.GetLineFromPosition(position);
        int end = line.Start;
        while (end < line.End && text[end] is ' ' or '\t')
        {
            end++;
        }

        return text.ToString(TextSpan.FromBounds(line.Start, end));
    }

    /// <summary>Gets the line break that ends the line of <paramref name="position"/>, or the one before if it is the last.</summary>
    public static string LineBreakNear(this SourceText text, int position)
    {
        int number = text.Lines.GetLineFromPosition(position).LineNumber;
        for (; number >= 0; number--)
        {
            TextLine line = text.Lines[number];
            if (line.EndIncludingLineBreak > line.End)
            {
                return text.ToString(TextSpan.FromBounds(line.End, line.EndIncludingLineBreak));
            }
        }

        return "\n";
    }

    /// <summary>Returns by how much blocks and types around <paramref name="node"/> indent what is in them.</summary>
    public static string StepAround(this SourceText text, SyntaxNode node)
    {
        foreach (SyntaxNode outer in node.AncestorsAndSelf())
        {
            SyntaxNode? inner = outer switch
            {
                BlockSyntax block => block.Statements.FirstOrDefault(),
                TypeDeclarationSyntax type => type.Members.FirstOrDefault(),
                _ => null,
            };
            string indentation = text.IndentationAt(outer.SpanStart);
            if (inner is not null
                && text.BeginsItsLine(inner.SpanStart)
                && text.IndentationAt(inner.SpanStart) is { } deeper
                && deeper.Length > indentation.Length
                && deeper.StartsWith(indentation, StringComparison.Ordinal))
            {
                return deeper.Substring(indentation.Length);
            }
        }

        return DefaultStep;
    }

    /// <summary>Gets whether only white space and comments follow <paramref name="token"/> on its line.</summary>
    public static bool EndsItsLine(this SyntaxToken token) =>
        token.TrailingTrivia.Any(trivia => trivia.IsKind(SyntaxKind.EndOfLineTrivia))
        || token.GetNextToken(includeZeroWidth: true).IsKind(SyntaxKind.EndOfFileToken);

    /// <summary>Returns where the line of its last token <paramref name="token"/> ends, behind a comment.</summary>
    public static int EndOfItsLine(this SyntaxToken token)
    {
        foreach (SyntaxTrivia trivia in token.TrailingTrivia)
        {
            if (trivia.IsKind(SyntaxKind.EndOfLineTrivia))
            {
                return trivia.SpanStart;
            }
        }

        return token.Span.End;
    }
}
