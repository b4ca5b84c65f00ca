using Tidepool.Data.Tests.Faults;

namespace Tidepool.Data.Tests;

/// <summary>What the test assembly does when it is started as a program: the part of a test that needs a process of its own.</summary>
internal static class Program
{
    private static async Task<int> Main(string[] arguments)
    {
        Func<string, Task>? part = arguments switch
        {
            ["pause"] => ChildParts.PauseAsync,
            ["files"] => ChildParts.RunOutOfFilesAsync,
            ["ports"] => ChildParts.RunOutOfPortsAsync,
            ["block"] => BlockingTests.BlockAsync,
            ["block-failing"] => BlockingTests.BlockFailingAsync,
            ["block-shortly"] => BlockingTests.BlockShortlyAsync,
            ["late"] => StarvedParts.RunLateAsync,
            ["busy"] => StarvedParts.RunBusyAsync,
            _ => null,
        };
        if (part is null || Environment.GetEnvironmentVariable(ChildTest.Variable) is not { } server)
        {
            await Console.Error.WriteLineAsync("This is a test assembly: run it with dotnet test.");
            return 2;
        }

        try
        {
            await part(server);
            return 0;
        }
        catch (Exception failure)
        {
            Console.WriteLine(failure);
            return 1;
        }
    }
}
