using Measuring.Charts;

namespace Measuring.Tests.Charts;

public class TextMeasureTests
{
    [Fact]
    public void Wrap_LongText_LosesNothingAndStaysWithinTheWidth()
    {
        const string Text = "a rather long name of something that is measured, with_one_word_that_is_wider_than_a_line";

        string[] lines = [.. TextMeasure.Wrap(Text, 120)];

        Assert.True(lines.Length > 3);
        Assert.All(lines, line => Assert.True(TextMeasure.Width(line) <= 120));
        Assert.Equal(Text.Replace(" ", ""), string.Concat(lines).Replace(" ", ""));
    }

    [Fact]
    public void Wrap_ShortText_IsOneLine() => Assert.Equal(["pool, lease"], TextMeasure.Wrap("pool, lease", 200));

    [Fact]
    public void Wrap_NoText_IsOneEmptyLine() => Assert.Equal([""], TextMeasure.Wrap("", 200));

    [Fact]
    public void Width_OfLetters_IsThatOfTheWidestFont()
    {
        // DejaVu Sans at 13 pixels: i 0.278, m 0.974, 0 0.636 of the size.
        Assert.InRange(TextMeasure.Width("i"), 0.278 * 13, 0.31 * 13);
        Assert.InRange(TextMeasure.Width("m"), 0.974 * 13, 1.0 * 13);
        Assert.InRange(TextMeasure.Width(new string('0', 10)), 6.36 * 13, 6.5 * 13);
        Assert.True(Enumerable.Range(32, 95).All(c => TextMeasure.Width(((char)c).ToString(), bold: true) > TextMeasure.Width(((char)c).ToString())));
    }
}
