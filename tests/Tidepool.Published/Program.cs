namespace Tidepool.Published;

/// <summary>
/// <c>Tidepool.Published leaks</c>: drops one rental of each kind and prints what is reported of it.
/// <c>Tidepool.Published misuse</c>: misuses one pool of each kind and prints what is reported of it.
/// <c>Tidepool.Published types</c>: reloads the types of the server in the environment and prints how many rentals see a new one.
/// <c>Tidepool.Published resets</c>: has a session of that server reset with the next statement and prints what others see of it.
/// <c>Tidepool.Published web</c>: serves requests with pools, health checks and logging, and prints what they say.
/// Exit codes: 0 done, 1 an exception, 2 wrong usage.
/// </summary>
internal static class Program
{
    private static async Task<int> Main(string[] args)
    {
        switch (args)
        {
            case ["leaks"]:
                await Leaks.RunAsync();
                return 0;
            case ["misuse"]:
                Misuses.Run();
                return 0;
            case ["types"] when Environment.GetEnvironmentVariable("TIDEPOOL_TEST_SERVER") is { } server:
                await Types.RunAsync(server);
                return 0;
            case ["resets"] when Environment.GetEnvironmentVariable("TIDEPOOL_TEST_SERVER") is { } server:
                await Resets.RunAsync(server);
                return 0;
            case ["web"]:
                await Web.RunAsync();
                return 0;
            default:
                await Console.Error.WriteLineAsync("This is a program of tests/Tidepool.Data.Tests.");
                return 2;
        }
    }
}
