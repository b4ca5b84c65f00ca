namespace Tidepool.Advice.Tests.Targets;

public sealed class CommandLineTests
{
    [Fact]
    public void A_name_gives_the_terminal_no_commands() => Assert.Equal("or?[31mders?é", SystemProcess.Printable("or\u001b[31mders\té"));

    [Theory]
    [InlineData("/usr/bin/dotnet /srv/Orders.Api.dll --port 80", "Orders.Api")]
    [InlineData("dotnet exec --runtimeconfig a.json /srv/Orders.dll x.dll", "Orders")]
    [InlineData("dotnet --depsfile deps.json Orders.dll", "Orders")]
    [InlineData("dotnet build src", "dotnet build")]
    [InlineData("/srv/orders --verbose", "orders")]
    [InlineData(@"C:\srv\orders.exe", "orders")]
    [InlineData("dotnet", "dotnet")]
    [InlineData("", "fallback")]
    public void A_program_is_named_by_what_runs(string line, string name) =>
        Assert.Equal(name, CommandLines.NameOf(line.Split(' ', StringSplitOptions.RemoveEmptyEntries), "fallback"));
}
