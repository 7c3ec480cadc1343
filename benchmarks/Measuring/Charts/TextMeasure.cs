namespace Measuring.Charts;

/// <summary>
/// Estimates how wide a text will be, which SVG leaves to the viewer. The widths are those of DejaVu Sans, the widest of the fonts that
/// the charts ask for, so that with another font there is some room to spare.
/// </summary>
public static class TextMeasure
{
    public const int LineHeight = 16;

    // Bold letters are wider by this factor at most.
    private const double Bold = 1.15;

    // Advance widths in hundredths of the font's size, and the letters that have them.
    private static readonly (int Width, string Letters)[] s_widths =
    [
        (28, "'ijlIJ"), (34, " ,./:;\\|-f"), (41, "()[]t!r"), (52, "\"*_`szc⁰¹²³⁴⁵⁶⁷⁸⁹⁻"), (61, "?LFkvxyPTYaoe–"),
        (64, "ESbdghnpqu$0123456789{}µ"), (70, "AVBRXZKC"), (79, "UHNDG&OQ"), (84, "w#+<=>^~×≤≥"),
    ];

    public static double Width(string text, bool bold = false)
        => text.Sum(Advance) * SvgElements.FontSize * (bold ? Bold : 1) / 100;

    /// <summary>
    /// Breaks <paramref name="text"/> at blanks into lines of at most <paramref name="width"/> pixels; a word that is wider is broken
    /// where the line ends.
    /// </summary>
    public static IReadOnlyList<string> Wrap(string text, double width, bool bold = false)
    {
        List<string> lines = [];
        StringBuilder line = new();
        foreach (string word in text.Split(' ', StringSplitOptions.RemoveEmptyEntries).SelectMany(word => Break(word, width, bold)))
        {
            if (line.Length > 0 && Width($"{line} {word}", bold) > width)
            {
                lines.Add(line.ToString());
                _ = line.Clear();
            }

            _ = line.Append(line.Length > 0 ? " " : "").Append(word);
        }

        lines.Add(line.ToString());
        return lines;
    }

    private static IEnumerable<string> Break(string word, double width, bool bold)
    {
        int start = 0;
        for (int end = 2; end <= word.Length; end++)
        {
            if (Width(word[start..end], bold) > width)
            {
                yield return word[start..(end - 1)];
                start = end - 1;
            }
        }

        yield return word[start..];
    }

    // What is not in the table counts as wide as the widest letter.
    private static int Advance(char letter)
    {
        foreach ((int width, string letters) in s_widths)
        {
            if (letters.Contains(letter, StringComparison.Ordinal))
            {
                return width;
            }
        }

        return 100;
    }
}
