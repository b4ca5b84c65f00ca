using Samples;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>The samples of docs/efcore.md, compiled into this assembly and run: they print what the page says.</summary>
[Collection(PostgresServer.Collection)]
public sealed class SampleTests(PostgresServer server)
{
    [Fact]
    public async Task Contexts_over_a_pool_print_what_the_page_says()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("tidepool-efcore-");
        await PrintsAsync(console => ContextsOverPool.RunAsync(Path.Combine(folder.FullName, "shop.db"), console));
        folder.Delete(recursive: true);
    }

    [PostgresFact]
    public async Task Retries_over_a_pool_print_what_the_page_says()
    {
        await using var database = new PostgresDatabase(server.Cluster);
        await database.FillAsync();
        await PrintsAsync(console => RetriesOverPool.RunAsync(database.ConnectionString, server.Cluster.TerminateAsync, console));
    }

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

        return Path.Combine(folder!.FullName, "docs", "efcore.md");
    }
}
