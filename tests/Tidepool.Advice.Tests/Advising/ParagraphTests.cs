namespace Tidepool.Advice.Tests.Advising;

public sealed class ParagraphTests
{
    [Theory]
    [InlineData("one two three", 80, "  one two three")]
    [InlineData("one two three", 9, "  one two|    three")]
    [InlineData("one two three", 10, "  one two|    three")]
    [InlineData("a-word-that-is-long b", 8, "  a-word-that-is-long|    b")]
    [InlineData("int a;  int b;", 80, "  int a;  int b;")] // spaces of code stay
    [InlineData("int a;  int b;", 9, "  int a;|    int|    b;")]
    [InlineData("", 80, "")]
    public void Lines_are_broken_at_spaces_and_stay_under_their_beginning(string text, int width, string expected) =>
        Assert.Equal(expected, string.Join('|', Paragraph.Lines(text, width, "  ", "    ")));
}
