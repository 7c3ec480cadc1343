using System.Text;
using Microsoft.CodeAnalysis.Text;

namespace Allocator.Analyzers.Tests.Testing;

/// <summary>C# with the expected diagnostics marked in place: <c>{|ALLOC001:s[0]|}</c>. Marks may nest.</summary>
public sealed class MarkedSource
{
    private const string Opening = "{|";
    private const string Closing = "|}";

    private MarkedSource(string text, ImmutableArray<ExpectedDiagnostic> expected)
    {
        Text = text;
        Expected = expected;
    }

    /// <summary>Gets the source without its marks.</summary>
    public string Text { get; }

    /// <summary>Gets what is expected, in the order of the source.</summary>
    public ImmutableArray<ExpectedDiagnostic> Expected { get; }

    /// <summary>Takes the marks out of <paramref name="markup"/>.</summary>
    /// <exception cref="FormatException">A mark is not closed, or has no identifier.</exception>
    public static MarkedSource Parse(string markup)
    {
        StringBuilder text = new(markup.Length);
        List<ExpectedDiagnostic> expected = [];
        Stack<(string Id, int Start)> open = new();
        for (int i = 0; i < markup.Length;)
        {
            if (string.CompareOrdinal(markup, i, Opening, 0, Opening.Length) == 0)
            {
                int colon = markup.IndexOf(':', i);
                if (colon < 0)
                {
                    throw new FormatException($"The mark at {i} has no identifier.");
                }

                open.Push((markup[(i + Opening.Length)..colon], text.Length));
                i = colon + 1;
            }
            else if (open.Count > 0 && string.CompareOrdinal(markup, i, Closing, 0, Closing.Length) == 0)
            {
                (string id, int start) = open.Pop();
                expected.Add(new ExpectedDiagnostic(id, TextSpan.FromBounds(start, text.Length)));
                i += Closing.Length;
            }
            else
            {
                text.Append(markup[i]);
                i++;
            }
        }

        if (open.Count > 0)
        {
            throw new FormatException($"The mark of {open.Peek().Id} is not closed.");
        }

        return new MarkedSource(
            text.ToString(), [.. expected.OrderBy(mark => mark.Span.Start).ThenBy(mark => mark.Id, StringComparer.Ordinal)]);
    }
}
