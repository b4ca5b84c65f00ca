namespace Tidepool.Labs.Tests;

/// <summary>What the test assembly does when it is started as a program: the part of a test that needs a process of its own.</summary>
internal static class Program
{
    private static async Task<int> Main(string[] arguments)
    {
        switch (arguments)
        {
            case ["hold-cluster"]:
                await Servers.HeldCluster.HoldAsync();
                return 0;
            default:
                await Console.Error.WriteLineAsync("This is a test assembly: run it with dotnet test.");
                return 2;
        }
    }
}
