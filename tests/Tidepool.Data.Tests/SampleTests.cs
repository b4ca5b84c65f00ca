using Samples;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>The samples of docs/connections.md, compiled into this assembly and run: they print what the page says.</summary>
[Collection(PostgresServer.Collection)]
public sealed class SampleTests(PostgresServer server)
{
    [Fact]
    public async Task A_pool_under_existing_code_prints_what_the_page_says()
    {
        using var file = new SqliteFile();
        await PrintsAsync(console => PoolUnderExistingCode.RunAsync(file.Path, console));
    }

    [PostgresFact]
    public Task A_program_that_survives_a_failover_prints_what_the_page_says() =>
        PrintsAsync(console => SurvivingFailover.RunAsync(server.Cluster.ConnectionString, console));

    private static async Task PrintsAsync(Func<TextWriter, Task> sample)
    {
        await using var console = new StringWriter { NewLine = "\n" };
        await sample(console);

        Assert.Contains($"```output\n{console}```\n", await File.ReadAllTextAsync(FindPage()), StringComparison.Ordinal);
    }

    private static string FindPage()
    {
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
        {
            folder = folder.Parent;
        }

        return Path.Combine(folder!.FullName, "docs", "connections.md");
    }
}
