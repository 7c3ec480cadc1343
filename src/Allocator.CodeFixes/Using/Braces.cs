namespace Allocator.CodeFixes.Using;

/// <summary>Braces that make room for a declaration with <c>using</c>, if there is none.</summary>
internal abstract class Braces
{
    protected Braces(SyntaxNode content) => Content = content;

    /// <summary>Gets what they go around.</summary>
    public SyntaxNode Content { get; }

    /// <summary>Gets the lines that they make deeper.</summary>
    public abstract TextSpan Indented { get; }

    public abstract IEnumerable<TextChange> Open(Layout layout);

    public abstract IEnumerable<TextChange> Close(Layout layout);

    protected static TextChange Insertion(int position, string inserted) => new(new TextSpan(position, 0), inserted);
}

/// <summary>Braces around the statements of a switch section, or around the only statement of an <c>if</c> or a loop.</summary>
internal sealed class StatementBraces : Braces
{
    private readonly SourceText _text;
    private readonly SyntaxToken _first;
    private readonly SyntaxToken _last;
    private readonly int _braceLine;

    /// <summary>Makes them for <paramref name="content"/>, a switch section or a statement.</summary>
    public StatementBraces(SyntaxNode content, SourceText text)
        : base(content)
    {
        _text = text;
        SwitchSectionSyntax? section = content as SwitchSectionSyntax;
        _first = (section?.Statements[0] ?? content).GetFirstToken();
        _last = content.GetLastToken();
        _braceLine = section is null ? content.Parent!.SpanStart : _first.SpanStart;
        Indented = section is null || !HasItsLine ? default : TextSpan.FromBounds(FirstLine, _last.Span.End);
    }

    public override TextSpan Indented { get; }

    private bool HasItsLine => _text.BeginsItsLine(_first.SpanStart);

    // Comments above the first statement come into the block with it.
    private int FirstLine => _text.Lines[_text.Lines.GetLineFromPosition(_first.GetPreviousToken().Span.End).LineNumber + 1].Start;

    public override IEnumerable<TextChange> Open(Layout layout)
    {
        yield return HasItsLine
            ? Insertion(FirstLine, $"{layout.Indentation(_braceLine, without: this)}{{{layout.LineBreak(_first.SpanStart)}")
            : Insertion(_first.SpanStart, "{ ");
    }

    public override IEnumerable<TextChange> Close(Layout layout)
    {
        yield return HasItsLine && _last.EndsItsLine()
            ? Insertion(_last.EndOfItsLine(), layout.NewLine(_braceLine, without: this) + "}")
            : Insertion(_last.Span.End, " }");
    }
}

/// <summary>Braces in place of the arrow of a member or behind that of a lambda, whose expression becomes the last statement.</summary>
internal sealed class BodyBraces : Braces
{
    private readonly SourceFile _source;
    private readonly ExpressionSyntax _body;
    private readonly SyntaxToken _beforeGap;
    private readonly SyntaxToken _last;
    private readonly List<string> _declarations = new();
    private readonly SyntaxNode _function;
    private readonly bool _isLambda;
    private readonly bool _hasItsLines;
    private readonly string[] _comments;

    /// <summary>Makes them for <paramref name="body"/>, the whole expression behind an arrow.</summary>
    public BodyBraces(ExpressionSyntax body, SourceFile source)
        : base(body)
    {
        _source = source;
        _body = body;
        _isLambda = body.Parent is not ArrowExpressionClauseSyntax;
        _function = _isLambda ? body.Parent! : body.Parent!.Parent!;
        SyntaxToken arrow = _isLambda
            ? ((LambdaExpressionSyntax)_function).ArrowToken
            : ((ArrowExpressionClauseSyntax)body.Parent!).ArrowToken;
        _beforeGap = _isLambda ? arrow : arrow.GetPreviousToken();
        _last = _isLambda ? body.GetLastToken() : _function.GetLastToken();
        _comments = _beforeGap.TrailingTrivia.Concat(_isLambda ? default : arrow.LeadingTrivia)
            .Concat(_isLambda ? default : arrow.TrailingTrivia)
            .Concat(body.GetLeadingTrivia())
            .Where(trivia => trivia.Kind() is SyntaxKind.SingleLineCommentTrivia or SyntaxKind.MultiLineCommentTrivia)
            .Select(trivia => trivia.ToString())
            .ToArray();
        _hasItsLines = _isLambda
            || _comments.Length > 0
            || (source.Text.BeginsItsLine(_function.SpanStart) && _last.EndsItsLine());

        // The expression behind the arrow moves, with its further lines. On lines of its own it was indented more before.
        Indented = _hasItsLines && !source.Text.BeginsItsLine(body.SpanStart) ? body.Span : default;
    }

    public override TextSpan Indented { get; }

    /// <summary>Gets whether the expression is the value of the function.</summary>
    public bool IsReturned => _source.FunctionAround(_body) is { ReturnsVoid: false } function
        && (!function.IsAsync || Awaiting.Tasks.HasResult(function.ReturnType));

    /// <summary>Gets or sets what replaces the expression up to its owner if that is all of it, and nothing uses it.</summary>
    public (string Declared, int OwnerStart)? Dropped { get; set; }

    // Of a property without accessors.
    private bool NeedsGetter => _function is PropertyDeclarationSyntax or IndexerDeclarationSyntax;

    /// <summary>Adds a declaration that comes before the expression.</summary>
    public void Declare(string declaration) => _declarations.Add(declaration);

    public override IEnumerable<TextChange> Open(Layout layout)
    {
        string outer = _hasItsLines ? layout.NewLine(_function.SpanStart, without: this) : " ";
        string step = _hasItsLines ? layout.Step(this) : "";
        string inner = outer + step;
        string opening = outer + "{" + inner;
        if (NeedsGetter)
        {
            opening += "get" + inner + "{" + (inner += step);
        }

        string statements = string.Concat(_comments.Concat(_declarations).Select(line => line + inner));
        string last = Dropped?.Declared ?? (IsReturned ? "return " : "");
        int end = Dropped?.OwnerStart ?? _body.SpanStart;
        yield return new TextChange(TextSpan.FromBounds(_beforeGap.Span.End, end), opening + statements + last);
    }

    public override IEnumerable<TextChange> Close(Layout layout)
    {
        string outer = _hasItsLines ? layout.NewLine(_function.SpanStart, without: this) : " ";
        string closing = (NeedsGetter ? outer + (_hasItsLines ? layout.Step(this) : "") + "}" : "") + outer + "}";

        // After a comment about the expression; otherwise what follows a lambda follows its brace.
        bool isCommented = _last.EndsItsLine() && (!_isLambda || _last.TrailingTrivia.Any(SyntaxKind.SingleLineCommentTrivia));
        if (_isLambda)
        {
            yield return Insertion(_last.Span.End, ";");
        }

        yield return Insertion(isCommented ? _last.EndOfItsLine() : _last.Span.End, closing);
    }
}
