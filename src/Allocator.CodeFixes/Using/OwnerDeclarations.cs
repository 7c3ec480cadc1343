using Allocator.Analyzers.Checks;

namespace Allocator.CodeFixes.Using;

/// <summary>
/// The changes that declare owners of one file with <c>using</c>: changes of its text, so that all else stays as it was.
/// </summary>
internal sealed class OwnerDeclarations
{
    private readonly SourceFile _source;
    private readonly FreeNames _names = new();
    private readonly List<TextSpan> _touched = new();
    private readonly List<Func<Layout, IEnumerable<TextChange>>> _changes = new();
    private readonly Dictionary<SyntaxNode, Braces> _braces = new();
    private readonly Dictionary<LocalDeclarationStatementSyntax, HashSet<VariableDeclaratorSyntax>> _variables = new();

    public OwnerDeclarations(SourceFile source) => _source = source;

    public bool IsEmpty => _changes.Count == 0 && _braces.Count == 0;

    /// <summary>Adds the changes for one diagnostic, or none if it has no fix that is certain to be right.</summary>
    public void Add(Diagnostic diagnostic)
    {
        if (diagnostic.Properties.ContainsKey(Reporter.OutlivesUsing)
            || AllocatedOwner.Of(diagnostic, _source) is not { } owner || IsTouched(owner))
        {
            return;
        }

        if (OwnerVariable.ThatHolds(owner) is { } variable)
        {
            if (OwnerVariable.CanBeUsing(variable, owner, _source) && !IsTouched(variable))
            {
                Declare(variable);
            }
        }
        else if (LateDeclaration.Of(owner, _source) is { } late)
        {
            if (!late.Touched.Any(span => _touched.Any(span.OverlapsWith)))
            {
                _touched.AddRange(late.Touched);
                _changes.Add(_ => late.Changes(_source.Text));
            }
        }
        else if (DiscardedOwner.PlaceThatDrops(owner, _source) is { } dropped)
        {
            if (TypeOfDisposable(owner) is { } type)
            {
                Keep(owner, type, dropped);
            }
        }
        else if (TemporaryOwner.PlaceThatUses(owner, _source) is { } place)
        {
            // Two in one statement are both declared, or none is.
            List<ExpressionSyntax> owners = TemporaryOwner.Beside(owner, place, _source).Append(owner)
                .Where(one => !IsTouched(one)).OrderBy(one => one.SpanStart).ToList();
            if (owners.All(one => TypeOfDisposable(one) is not null && TemporaryOwner.PlaceThatUses(one, _source) == place))
            {
                owners.ForEach(one => Hoist(one, place));
            }
        }
    }

    public SourceText ChangedText()
    {
        // If two begin in the same place, the outer braces open first and close last.
        List<Braces> braces = _braces.Values.OrderBy(one => one.Content.SpanStart).ThenByDescending(one => one.Content.Span.End).ToList();
        Layout layout = new(_source, braces);
        List<TextChange> changes = braces.SelectMany(one => one.Open(layout)).ToList();
        List<TextChange> declared = _changes.SelectMany(change => change(layout)).ToList();
        List<TextSpan> replaced = changes.Concat(declared).Select(change => change.Span).ToList();
        changes.AddRange(braces.SelectMany(layout.Indent).Where(line => !replaced.Any(span =>
            span.Start < line.Span.Start && line.Span.Start < span.End)));
        changes.AddRange(declared);
        changes.AddRange(((IEnumerable<Braces>)braces).Reverse().SelectMany(one => one.Close(layout)));
        return _source.Text.WithChanges(changes.OrderBy(change => change.Span.Start));
    }

    private void Declare(VariableDeclaratorSyntax variable)
    {
        LocalDeclarationStatementSyntax declaration = (LocalDeclarationStatementSyntax)variable.Parent!.Parent!;
        _touched.Add(variable.Span);
        if (_variables.TryGetValue(declaration, out HashSet<VariableDeclaratorSyntax>? variables))
        {
            variables.Add(variable);
            return;
        }

        variables = new HashSet<VariableDeclaratorSyntax> { variable };
        _variables.Add(declaration, variables);
        BracesFor(declaration);
        _changes.Add(layout => SplitDeclaration.Changes(declaration, variables, layout, _source.Text));
    }

    // `_ = allocator.Allocate<byte>(n);`, or the call alone.
    private void Keep(ExpressionSyntax owner, ITypeSymbol type, SyntaxNode place)
    {
        _touched.Add(place.Span);
        string declared = Beginning(owner, type, place, out _);
        if (BracesFor(place) is BodyBraces body)
        {
            body.Dropped = (declared, AllocatedOwner.WithParentheses(owner).SpanStart);
            return;
        }

        int start = AllocatedOwner.WithParentheses(owner).SpanStart;
        _changes.Add(_ => new[] { new TextChange(TextSpan.FromBounds(place.SpanStart, start), declared) });
    }

    private void Hoist(ExpressionSyntax owner, SyntaxNode place)
    {
        _touched.Add(owner.Span);
        string beginning = Beginning(owner, TypeOfDisposable(owner)!, place, out string name);
        string declaration = $"{beginning}{_source.Text.ToString(owner.Span)};";
        if (BracesFor(place) is BodyBraces body)
        {
            body.Declare(declaration);
        }
        else
        {
            _changes.Add(layout => new[]
            {
                new TextChange(new TextSpan(place.SpanStart, 0), declaration + SeparatorBefore(place, layout)),
            });
        }

        _changes.Add(_ => new[] { new TextChange(AllocatedOwner.WithParentheses(owner).Span, name) });
    }

    private string Beginning(ExpressionSyntax owner, ITypeSymbol type, SyntaxNode place, out string name)
    {
        name = _names.Take("owner", place);
        bool isVar = _source.Prefers("csharp_style_var_elsewhere") && owner is not ImplicitObjectCreationExpressionSyntax;
        return $"using {(isVar ? "var" : _source.NameOf(type, place))} {name} = ";
    }

    private ITypeSymbol? TypeOfDisposable(ExpressionSyntax owner) =>
        _source.TypeOf(owner) is { } type && Disposable.Is(type) ? type : null;

    private Braces? BracesFor(SyntaxNode place)
    {
        if (UsingScope.BracesFor(place, _source) is not { } braces)
        {
            return null;
        }

        if (!_braces.TryGetValue(braces.Content, out Braces? known))
        {
            _braces.Add(braces.Content, known = braces);
        }

        return known;
    }

    // The next round fixes what is inside another fix.
    private bool IsTouched(SyntaxNode node) => _touched.Any(span => span.OverlapsWith(node.Span));

    // A new line like the statement's own; or a space if the statement does not begin its line.
    private string SeparatorBefore(SyntaxNode statement, Layout layout) =>
        _source.Text.BeginsItsLine(statement.SpanStart) ? layout.NewLine(statement.SpanStart) : " ";
}
