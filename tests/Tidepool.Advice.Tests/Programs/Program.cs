namespace Tidepool.Advice.Tests.Programs;

/// <summary>The programs that tests attach to: what the test assembly does when it is started as one.</summary>
internal static class Program
{
    private static async Task<int> Main(string[] arguments)
    {
        switch (arguments)
        {
            case [WatchedProgram.Name]:
                await WatchedProgram.RunAsync();
                return 0;
            case [PlantedProgram.Young or PlantedProgram.Kept]:
                await PlantedProgram.RunAsync(arguments[0]);
                return 0;
            case [ServingProgram.Name]:
                await ServingProgram.RunAsync();
                return 0;
            case [PooledProgram.Name]:
                await PooledProgram.RunAsync();
                return 0;
            case [EarlyProgram.Name]:
                await EarlyProgram.RunAsync();
                return 0;
            case [LivedProgram.Name]:
                await LivedProgram.RunAsync();
                return 0;
            case [ComparedProgram.Arrays or ComparedProgram.Pools or ComparedProgram.Fails or ComparedProgram.Crashes
                or ComparedProgram.Hangs, ..]:
                return ComparedProgram.Run(arguments[0], arguments[1..]);
            default:
                await Console.Error.WriteLineAsync("This is a test assembly: run it with dotnet test.");
                return 2;
        }
    }
}
