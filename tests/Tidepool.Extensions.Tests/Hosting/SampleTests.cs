using Samples;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>The sample of docs/hosts.md, compiled into this assembly and run: it prints what the page says.</summary>
[Collection("Pools with plain names")] // two live pools never have one name
public sealed class SampleTests
{
    static SampleTests() => SQLitePCL.Batteries_V2.Init();

    [Fact]
    public async Task Pools_in_a_host_print_what_the_page_says()
    {
        await using var console = new StringWriter { NewLine = "\n" };
        await PoolsInHost.RunAsync(console);
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
        {
            folder = folder.Parent;
        }

        string page = await File.ReadAllTextAsync(Path.Combine(folder!.FullName, "docs", "hosts.md"));
        Assert.Contains($"```output\n{console}```\n", page, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_program_that_leaves_object_pools_of_Microsoft_does_what_it_did()
    {
        await using var console = new StringWriter { NewLine = "\n" };
        FromMicrosoftObjectPool.Run(console);
        Assert.Equal(
            """
            old: rent, use, return
            new: rent, use, return
            ready-made: rent, use, return
            provider: code that was there before

            """,
            console.ToString());
    }
}
