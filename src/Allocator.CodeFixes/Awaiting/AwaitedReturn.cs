namespace Allocator.CodeFixes.Awaiting;

/// <summary>What <c>return task;</c> becomes in an async method.</summary>
internal static class AwaitedReturn
{
    /// <summary>Returns the changes to <paramref name="statement"/>.</summary>
    public static IEnumerable<TextChange> Changes(ReturnStatementSyntax statement, TaskMethod method, SourceFile source)
    {
        ExpressionSyntax value = statement.Expression!;
        if (Tasks.HasResult(method.Symbol.ReturnType))
        {
            return KnownTask.Result(value, source) is { } result ? Unwrapped(value, result)
                : KnownTask.IsDefault(value) ? Array.Empty<TextChange>()
                : Awaited(value, Insertion(value.SpanStart, statement.ReturnKeyword.Span.End == value.SpanStart ? " await " : "await "));
        }

        if (KnownTask.IsCompleted(value, source))
        {
            return new[] { new TextChange(TextSpan.FromBounds(statement.ReturnKeyword.Span.End, value.Span.End), "") };
        }

        return method.EndsWith(statement)
            ? Awaited(value, new TextChange(statement.ReturnKeyword.Span, "await"))
            : AwaitedAndLeft(statement, value, source.Text);
    }

    private static IEnumerable<TextChange> Unwrapped(ExpressionSyntax task, ExpressionSyntax result)
    {
        yield return new TextChange(TextSpan.FromBounds(task.SpanStart, result.SpanStart), "");
        yield return new TextChange(TextSpan.FromBounds(result.Span.End, task.Span.End), "");
    }

    private static IEnumerable<TextChange> Awaited(ExpressionSyntax value, TextChange keyword)
    {
        yield return keyword;
        if (!IsPrimary(value))
        {
            yield return Insertion(value.SpanStart, "(");
            yield return Insertion(value.Span.End, ")");
        }
    }

    // Without a result, awaiting and returning are two statements, which need braces where only one was allowed.
    private static IEnumerable<TextChange> AwaitedAndLeft(ReturnStatementSyntax statement, ExpressionSyntax value, SourceText text)
    {
        bool hasItsLine = text.BeginsItsLine(statement.SpanStart);
        bool isOneOfMany = statement.Parent is BlockSyntax or SwitchSectionSyntax;
        string indentation = text.IndentationAt(statement.SpanStart);
        string separator = hasItsLine ? text.LineBreakNear(statement.SpanStart) + indentation : " ";
        string brace = text.IndentationAt(statement.Parent!.SpanStart);
        string opening = isOneOfMany ? "" : hasItsLine ? $"{{{separator}" : "{ ";
        string closing = isOneOfMany ? "" : hasItsLine ? $"{text.LineBreakNear(statement.SpanStart)}{brace}}}" : " }";

        // The brace is indented as its statement is, less than what it holds.
        TextSpan start = isOneOfMany || !hasItsLine
            ? statement.ReturnKeyword.Span
            : TextSpan.FromBounds(statement.SpanStart - indentation.Length, statement.ReturnKeyword.Span.End);
        string before = isOneOfMany || !hasItsLine ? opening : brace + opening;
        foreach (TextChange change in Awaited(value, new TextChange(start, before + "await")))
        {
            yield return change;
        }

        yield return Insertion(hasItsLine ? statement.GetLastToken().EndOfItsLine() : statement.Span.End, $"{separator}return;{closing}");
    }

    private static TextChange Insertion(int position, string inserted) => new(new TextSpan(position, 0), inserted);

    private static bool IsPrimary(ExpressionSyntax value) => value
        is InvocationExpressionSyntax
        or MemberAccessExpressionSyntax
        or IdentifierNameSyntax
        or ElementAccessExpressionSyntax
        or ObjectCreationExpressionSyntax
        or DefaultExpressionSyntax
        or ParenthesizedExpressionSyntax;
}
