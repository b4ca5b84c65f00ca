namespace Tidepool.Advice.Tests.Targets;

public sealed class CommandLineTests
{
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
