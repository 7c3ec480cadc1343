using Microsoft.CodeAnalysis.Text;

namespace Allocator.CodeFixes;

/// <summary>How the lines of a source are laid out.</summary>
internal static class SourceLines
{
    /// <summary>Gets whether only white space stands before <paramref name="position"/> on its line.</summary>
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

    /// <summary>Gets the line break that ends the line of <paramref name="position"/>, or the one before where it is the last.</summary>
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
}
