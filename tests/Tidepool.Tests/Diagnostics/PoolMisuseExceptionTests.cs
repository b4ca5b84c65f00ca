namespace Tidepool.Tests.Diagnostics;

public sealed class PoolMisuseExceptionTests
{
    [Fact]
    public void The_exception_tells_kind_pool_and_message()
    {
        PoolMisuseException misuse = new(MisuseKind.ForeignReturn, "p", "what happened");
        Assert.Equal((MisuseKind.ForeignReturn, "p", "what happened"), (misuse.Kind, misuse.PoolName, misuse.Message));
        Assert.IsAssignableFrom<InvalidOperationException>(misuse);
    }

    [Fact]
    public void Every_kind_has_a_sentence_of_its_own_that_names_the_pool()
    {
        string[] texts = [.. Enum.GetValues<MisuseKind>().Select(kind => MisuseText.Describe(kind, "frames", "The detail."))];
        Assert.Equal(texts.Length, texts.Distinct().Count());
        Assert.All(texts, text =>
        {
            Assert.Contains("'frames'", text, StringComparison.Ordinal);
            Assert.EndsWith("The detail.", text, StringComparison.Ordinal);
        });
        Assert.Equal(MisuseCounts.Kinds, texts.Length);
    }
}
