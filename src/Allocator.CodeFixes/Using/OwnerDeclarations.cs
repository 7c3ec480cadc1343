using System.Collections.Generic;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Allocator.CodeFixes.Using;

/// <summary>
/// The changes that declare owners of one file with <c>using</c>: changes of its text, so that all else stays as it was.
/// </summary>
internal sealed class OwnerDeclarations
{
    private readonly SourceFile _source;
    private readonly FreeNames _names = new();
    private readonly List<TextSpan> _touched = new();
    private readonly List<TextChange> _changes = new();

    public OwnerDeclarations(SourceFile source) => _source = source;

    public bool IsEmpty => _changes.Count == 0;

    /// <summary>Adds the changes for one diagnostic, or none where it has no fix that is certain to be right.</summary>
    public void Add(Diagnostic diagnostic)
    {
        if (AllocatedOwner.Of(diagnostic, _source.Root) is not { } owner || IsTouched(owner))
        {
            return;
        }

        if (OwnerVariable.ThatHolds(owner) is { } declaration)
        {
            if (OwnerVariable.CanBeUsing(declaration, owner, _source) && !IsTouched(declaration))
            {
                _touched.Add(declaration.Span);
                Insert(declaration, "using ");
            }
        }
        else if (DiscardedOwner.StatementThatDrops(owner, _source) is { } dropped
            && _source.TypeOf(owner) is { } droppedType
            && Disposable.Is(droppedType))
        {
            _touched.Add(dropped.Span);
            Keep(owner, droppedType, dropped);
        }
        else if (TemporaryOwner.StatementThatUses(owner, _source) is { } statement
            && _source.TypeOf(owner) is { } type
            && Disposable.Is(type))
        {
            _touched.Add(owner.Span);
            Hoist(owner, type, statement);
        }
    }

    public SourceText ChangedText() => _source.Text.WithChanges(_changes.OrderBy(change => change.Span.Start));

    // `_ = allocator.Allocate<byte>(n);`, or the call alone.
    private void Keep(ExpressionSyntax owner, ITypeSymbol type, ExpressionStatementSyntax statement)
    {
        string name = _names.Take("owner", statement);
        TextSpan before = TextSpan.FromBounds(statement.SpanStart, owner.SpanStart);
        _changes.Add(new TextChange(before, $"using {TypeName(type, statement)} {name} = "));
    }

    private string TypeName(ITypeSymbol type, StatementSyntax statement) =>
        _source.Prefers("csharp_style_var_elsewhere") ? "var" : _source.NameOf(type, statement);

    private void Hoist(ExpressionSyntax owner, ITypeSymbol type, StatementSyntax statement)
    {
        string name = _names.Take("owner", statement);
        Insert(statement, $"using {TypeName(type, statement)} {name} = {_source.Text.ToString(owner.Span)};{SeparatorBefore(statement)}");
        _changes.Add(new TextChange(AllocatedOwner.WithParentheses(owner).Span, name));
    }

    // The next round fixes what lies within another fix.
    private bool IsTouched(SyntaxNode node) => _touched.Any(span => span.OverlapsWith(node.Span));

    private void Insert(StatementSyntax before, string inserted) =>
        _changes.Add(new TextChange(new TextSpan(before.SpanStart, 0), inserted));

    // A new line like the statement's own; or a space where the statement does not begin its line.
    private string SeparatorBefore(StatementSyntax statement)
    {
        int position = statement.SpanStart;
        return _source.Text.BeginsItsLine(position) ? _source.Text.LineBreakNear(position) + _source.Text.IndentationAt(position) : " ";
    }
}
