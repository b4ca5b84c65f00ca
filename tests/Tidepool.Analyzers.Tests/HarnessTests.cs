using Microsoft.CodeAnalysis.Text;
using Tidepool.Analyzers.Tests.Harness;

namespace Tidepool.Analyzers.Tests;

public sealed class HarnessTests
{
    [Fact]
    public void Marks_give_the_code_and_where_rules_are_broken()
    {
        Markup markup = Markup.Parse("a {|POOL002:b {|POOL001:c|}|} d");
        Assert.Equal("a b c d", markup.Code);
        Assert.Equal([("POOL002", TextSpan.FromBounds(2, 5)), ("POOL001", TextSpan.FromBounds(4, 5))], markup.Expected);
    }

    [Fact]
    public void A_mark_that_is_not_closed_is_an_error() =>
        Assert.Throws<ArgumentException>(() => Markup.Parse("a {|POOL001:b"));

    [Fact]
    public void Code_that_does_not_compile_fails_a_test_of_rules() =>
        Assert.ThrowsAny<Xunit.Sdk.XunitException>(() => Analysis.Run("class C { int M() => missing; }"));
}
