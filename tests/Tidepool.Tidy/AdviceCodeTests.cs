using Tidepool.Advice;

namespace Tidepool.Tidy;

/// <summary>Code that is printed for a site, and a table of size classes, compile where they are pasted.</summary>
public sealed class AdviceCodeTests
{
    [Theory]
    [InlineData("System.Byte[]", null)]
    [InlineData("System.Double[]", null)]
    [InlineData("System.String[]", null)]
    [InlineData("System.Byte[]", "MemoryStream")]
    [InlineData("System.Char[]", "StringBuilder")]
    [InlineData("System.Int32[]", "ArrayBufferWriter")]
    public void What_is_to_be_pooled_compiles_as_it_was_and_as_it_shall_be(string type, string? builder)
    {
        SiteAdvice advice = Advisor.Judge(
            new AllocationSite
            {
                Method = "Orders.Handle",
                Type = type,
                Builder = builder,
                Samples = 1000,
                Slices = 5,
                Share = 0.5,
                BytesPerSecond = new Interval(9e6, 1e7, 1.1e7),
                Sizes = [(8024, 1000)],
                MostSurviving = 0,
            },
            slices: 5,
            new AdviceLimits());

        Assert.Equal(Verdict.Pool, advice.Verdict);
        Assert.NotEqual(advice.Before, advice.After);
        AssertCompiles(AsStatement(advice.Before!));
        AssertCompiles(AsStatement(advice.After!));
    }

    [Fact]
    public void A_table_of_size_classes_is_an_option_of_a_pool()
    {
        string option = ClassText.CSharp([.. Enumerable.Range(1, 20).Select(static i => 16 * i)]);

        AssertCompiles($"var options = new BufferPoolOptions<byte>\n{{\n{option}\n}};\nConsole.WriteLine(options.Sizes);");
    }

    /// <summary>An expression becomes the value of a variable.</summary>
    private static string AsStatement(string code) => code.EndsWith(';') ? code : $"var value = {code};\nConsole.WriteLine(value);";

    private static void AssertCompiles(string code)
    {
        string program = $"using System.Buffers;\nusing System.Text;\nusing Tidepool;\nint n = 100;\nConsole.WriteLine(n);\n{code}\n";
        Assert.NotEmpty(new DocCode("advice", 1, program, null).Compile());
    }
}
