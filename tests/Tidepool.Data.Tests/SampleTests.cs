using System.Data.Common;
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

    [Fact]
    public async Task A_program_that_leaves_the_pool_of_its_provider_does_what_it_did()
    {
        using var file = new SqliteFile();
        await using var console = new StringWriter { NewLine = "\n" };
        await FromProviderPool.RunAsync(file.Path, console);
        Assert.Equal("old: rent, use, return\nnew: rent, use, return\n", console.ToString());
    }

    [PostgresFact]
    public async Task Sizes_and_times_move_from_the_connection_string_to_the_options()
    {
        string text = server.Cluster.ConnectionString;
        await using DbDataSource old = FromProviderPool.OldPostgres(text);
        await using DbDataSource replacement = FromProviderPool.NewPostgres(text);
        foreach (DbDataSource source in new[] { old, replacement })
        {
            await using DbConnection connection = await source.OpenConnectionAsync();
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 7";
            Assert.Equal(7, await command.ExecuteScalarAsync());
        }
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
