using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>What the pages promise for trimmed programs and native AOT, checked in a program that was published so.</summary>
[Collection(PostgresServer.Collection)]
public sealed class PublishedProgramTests(PostgresServer server)
{
    /// <summary>The pool of each rental that the program drops, and the method that rents there.</summary>
    private static readonly (string Pool, string Method)[] Dropped =
    [
        ("buffer", "DropBuffer"), ("array", "DropArray"), ("object", "DropObject"), ("PooledMemoryStream", "DropStreams"),
        ("resource", "DropResource"), ("overdue resource", "HoldResource"),
    ];

    [PublishedTheory(needsServer: false)]
    [Trait("Category", "Slow")]
    [InlineData(PublishedProgram.Native)]
    [InlineData(PublishedProgram.Trimmed)]
    public async Task Every_leak_is_told_to_the_callback_and_the_log_and_its_place_begins_at_the_caller(string kind)
    {
        (string output, string errors) = await PublishedProgram.RunAsync(kind, "leaks", ("TIDEPOOL_CHECKS", "full,stacks,log"));

        Assert.Contains("event sources: False", output, StringComparison.Ordinal);
        string[] told = output.Split('\n');
        string[] logged = errors.Split('\n');
        foreach ((string pool, string method) in Dropped)
        {
            string place = $"   at Tidepool.Published.Leaks.{method}(";
            Assert.Contains(told, line => line.StartsWith($"{pool}:{place}", StringComparison.Ordinal));
            int report = Array.FindIndex(logged, line => line.Contains($"(pool '{pool}'). Rented at:", StringComparison.Ordinal));
            Assert.True(report >= 0, $"nothing of {pool} in the log:\n{errors}");
            Assert.StartsWith(place, logged[report + 1], StringComparison.Ordinal);
        }
    }

    [PublishedTheory(needsServer: false)]
    [Trait("Category", "Slow")]
    [InlineData(PublishedProgram.Native)]
    [InlineData(PublishedProgram.Trimmed)]
    public async Task Misuse_is_told_to_the_callback_and_the_log_beside_a_callback_that_throws(string kind)
    {
        (string output, string errors) = await PublishedProgram.RunAsync(kind, "misuse", ("TIDEPOOL_CHECKS", "full,log"));

        string[] logged = errors.Split('\n');
        string[] pools = ["buffer", "array", "object"];
        Assert.Equal(
            pools.SelectMany(static pool => (string[])[$"reported {pool}: DoubleReturn", "thrown: DoubleReturn"]),
            output.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        foreach (string pool in pools)
        {
            int report = Array.FindIndex(logged, line => line.Contains(" was returned twice. ", StringComparison.Ordinal)
                && line.EndsWith($"(pool '{pool}'). Rented at:", StringComparison.Ordinal));
            Assert.True(report >= 0, $"nothing of {pool} in the log:\n{errors}");
            Assert.StartsWith("   at Tidepool.Published.Misuses.Run(", logged[report + 1], StringComparison.Ordinal);
        }
    }

    [PublishedTheory(needsServer: false)]
    [Trait("Category", "Slow")]
    [InlineData(PublishedProgram.Native)]
    [InlineData(PublishedProgram.Trimmed)]
    public async Task A_web_program_has_pools_from_its_configuration_health_and_logging(string kind)
    {
        (string output, _) = await PublishedProgram.RunAsync(
            kind, "web", ("Tidepool__Pools__clients__MaxSize", "2"), ("Tidepool__Pools__clients__WarmUp", "2"),
            ("Tidepool__Pools__client__MaxSize", "3"));
        string[] lines = output.Split('\n');
        foreach (string line in (string[])
        [
            "Information: Tidepool[7] Pool clients has 2 resources ready.",
            "Warning: Tidepool[10] The configuration has Tidepool:Pools:client, and no pool has that name: it is not read. "
                + "Did you mean 'clients'?",
            "warm: 2",
            "health: 200 Healthy",
            "Information: Tidepool[6] Pool 'clients' was cleared: 2 idle ones end now, 0 in use when they come back.",
            "health: 503 Unhealthy",
            "pools: 0",
        ])
        {
            Assert.Contains(line, lines);
        }

        const string answer = "answer: 100 bytes, client ";
        const string memory = ", memory of SlabMemoryPool`1";
        Assert.Contains(lines, static line => line is answer + "1" + memory or answer + "2" + memory); // made side by side
        foreach (string start in (string[])
        [
            "Error: Tidepool[3] Pool 'clients' could not create a resource: IOException: refused (",
            "Warning: Tidepool[4] Pool 'clients' backs off after a failed creation: ",
        ])
        {
            Assert.Contains(lines, line => line.StartsWith(start, StringComparison.Ordinal));
        }

        (output, _) = await PublishedProgram.RunAsync(kind, "web", ("Tidepool__Pools__clients__MaxSize", "0"));
        Assert.Contains("refused: Tidepool:Pools:clients:MaxSize is 0; allowed is 1 or more.", output.Split('\n'));
    }

    [PublishedTheory(needsServer: true)]
    [Trait("Category", "Slow")]
    [InlineData(PublishedProgram.Native)]
    [InlineData(PublishedProgram.Trimmed)]
    public async Task After_a_reload_of_types_every_rental_sees_the_new_type(string kind)
    {
        (string output, _) = await PublishedProgram.RunAsync(kind, "types", (ChildTest.Variable, server.ConnectionString));

        Assert.Equal("3 of 3 rentals see the new type, 6 sessions opened", output.Trim());
    }

    [PublishedTheory(needsServer: true)]
    [Trait("Category", "Slow")]
    [InlineData(PublishedProgram.Native)]
    [InlineData(PublishedProgram.Trimmed)]
    public async Task A_reset_travels_with_the_next_statement(string kind)
    {
        (string output, _) = await PublishedProgram.RunAsync(kind, "resets", (ChildTest.Variable, server.ConnectionString));

        Assert.Equal("free while idle: False, after the next statement: True", output.Trim());
    }
}
