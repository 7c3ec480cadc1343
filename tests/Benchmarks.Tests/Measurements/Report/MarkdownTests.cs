namespace Measurements.Tests.Report;

public class MarkdownTests
{
    [Theory]
    [InlineData("a | b", "a \\| b")]
    [InlineData("List<T> & co", "List&lt;T&gt; &amp; co")]
    [InlineData("a_b *c* [d] #e", "a\\_b \\*c\\* \\[d\\] \\#e")]
    [InlineData("two\nlines", "two lines")]
    [InlineData("`Rent<byte>|x` and <b>", "`Rent<byte>\\|x` and &lt;b&gt;")]
    [InlineData("one ` alone", "one \\` alone")]
    public void Text_MarkdownSyntax_IsEscaped(string text, string expected) => Assert.Equal(expected, Markdown.Text(text));

    [Fact]
    public void Code_WithAPipeAndABacktick_StaysOneCell() => Assert.Equal("`` a \\| ` ``", Markdown.Code("a | `"));

    [Fact]
    public void Table_OneNumber_IsAlignedToTheRight()
        => Assert.Equal("| name | ns |\n| --- | ---: |\n| pool | 12 |\n", Markdown.Table(["name", "ns"], 1, [["pool", "12"]]));

    [Fact]
    public void Link_AddressWithABlank_IsEscaped() => Assert.Equal("[my file](a/my%20file.md)", Markdown.Link("my file", "a/my file.md"));
}
