using System.Diagnostics;
using System.Reflection;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>The mode of the process is read once at its start: each case is a child process of its own.</summary>
public sealed class ProcessChecksTests
{
    [Theory]
    [InlineData(null, "Default False False")]
    [InlineData("", "Default False False")]
    [InlineData("default", "Default False False")]
    [InlineData("off", "Off False False")]
    [InlineData("OFF ", "Off False False")]
    [InlineData("full", "Full False False")]
    [InlineData("full,stacks", "Full True False")]
    [InlineData("Full, Stacks", "Full True False")]
    [InlineData("full,log", "Full False True")]
    [InlineData("full,stacks,log", "Full True True")]
    [InlineData("log,stacks,full", "Full True True")]
    [InlineData("default,log", "Default False True")]
    [InlineData("off,log", "Off False True")]
    [InlineData("log", "Default False True")]
    [InlineData("default,stacks", "Default False False")]
    [InlineData("off,full", "Default False False")]
    [InlineData("full,logs", "Default False False")]
    public void The_text_of_the_variable_is_understood(string? text, string expected)
    {
        (PoolChecks mode, bool stacks, bool logs) = ProcessChecks.Parse(text);
        Assert.Equal(expected, $"{mode} {stacks} {logs}");
    }

    [Theory]
    [InlineData(null, "Default", "return: DoubleReturn", false)]
    [InlineData("default", "Default", "return: DoubleReturn", false)]
    [InlineData("off", "Off", "return: nothing", false)]
    [InlineData("full", "Full", "return: DoubleReturn", false)]
    [InlineData("full,stacks", "Full", "return: DoubleReturn", true)]
    [Trait("Category", "Environment")]
    public void The_variable_sets_the_checks_of_every_pool_of_the_process(string? text, string mode, string returned, bool stacks)
    {
        (int code, string output, string error) = Child.Run(Child.Checks, text);
        Assert.True(code == 0, $"exit code {code}\n{output}\n{error}");
        Assert.Contains($"shared: {mode}", output, StringComparison.Ordinal);
        Assert.Contains($"created: {mode}", output, StringComparison.Ordinal);
        Assert.Contains("option: Off", output, StringComparison.Ordinal);
        Assert.Contains(returned, output, StringComparison.Ordinal);
        Assert.Contains("two renters: False", output, StringComparison.Ordinal);
        if (stacks)
        {
            // Every rental is recorded, this one included: the message names the method that rented.
            Assert.Contains(Child.NameOfRentingMethod, output, StringComparison.Ordinal);
        }

        Assert.Empty(error);
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void A_value_that_is_not_understood_means_the_default_and_is_said_on_standard_error()
    {
        (int code, string output, string error) = Child.Run(Child.Checks, "fulll");
        Assert.Equal(0, code);
        Assert.Contains("shared: Default", output, StringComparison.Ordinal);
        Assert.Contains("TIDEPOOL_CHECKS=fulll", error, StringComparison.Ordinal);
        Assert.Contains("full,stacks", error, StringComparison.Ordinal);
    }
}
