using System.Text;

namespace Allocator.CodeFixes.Using;

/// <summary>Where lines begin once all new braces are there.</summary>
internal sealed class Layout
{
    private readonly SourceFile _source;
    private readonly IReadOnlyCollection<Braces> _braces;

    public Layout(SourceFile source, IReadOnlyCollection<Braces> braces)
    {
        _source = source;
        _braces = braces;
    }

    /// <summary>Returns a line break and the indentation of a new line inside the braces around <paramref name="position"/>.</summary>
    public string NewLine(int position, Braces? without = null) => LineBreak(position) + Indentation(position, without);

    public string LineBreak(int position) => _source.Text.LineBreakNear(position);

    public string Indentation(int position, Braces? without = null)
    {
        StringBuilder indentation = new(_source.Text.IndentationAt(position));
        foreach (Braces braces in _braces.Where(braces => braces != without && braces.Indented.Contains(position)))
        {
            indentation.Append(Step(braces));
        }

        return indentation.ToString();
    }

    public string Step(Braces braces) => _source.Text.StepAround(braces.Content);

    /// <summary>Returns the changes that indent the code between <paramref name="braces"/>, except multi-line strings.</summary>
    public IEnumerable<TextChange> Indent(Braces braces)
    {
        int first = _source.Text.Lines.GetLineFromPosition(braces.Indented.Start).LineNumber;
        foreach (TextLine line in _source.Text.Lines.Skip(first).TakeWhile(line => line.Start < braces.Indented.End))
        {
            if (line.Start >= braces.Indented.Start && line.Span.Length > 0 && !IsInAString(line.Start))
            {
                yield return new TextChange(new TextSpan(line.Start, 0), Step(braces));
            }
        }
    }

    private bool IsInAString(int position)
    {
        SyntaxToken token = _source.Root.FindToken(position);
        return (token.SpanStart < position && position < token.Span.End)
            || token.Parent!.AncestorsAndSelf().Any(node => node is InterpolatedStringExpressionSyntax && node.SpanStart < position);
    }
}
