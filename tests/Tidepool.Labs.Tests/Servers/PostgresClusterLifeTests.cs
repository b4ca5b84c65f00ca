using System.Diagnostics;

namespace Tidepool.Labs.Tests.Servers;

/// <summary>Nothing of a cluster outlives its owner, however the owner ends.</summary>
public sealed class PostgresClusterLifeTests
{
    [PostgresFact]
    public async Task Disposal_stops_the_server_and_removes_the_folder()
    {
        PostgresCluster cluster = await PostgresCluster.StartAsync();
        int server = cluster.ServerProcess!.Value;
        Assert.True(Directory.Exists(cluster.Folder));

        await cluster.DisposeAsync();
        await cluster.DisposeAsync();

        Assert.False(Directory.Exists(cluster.Folder));
        Assert.False(Directory.Exists($"/proc/{server}"));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => cluster.StopAsync());
    }

    [PostgresTheory]
    [InlineData("KILL", false)]
    [InlineData("TERM", false)]
    [InlineData("INT", true)] // Ctrl+C in a terminal goes to the whole group
    public async Task A_parent_that_is_ended_leaves_no_server_and_no_folder(string signal, bool group)
    {
        using HeldCluster held = HeldCluster.Start();
        await held.BeginAsync();
        (int server, int supervisor) = await held.ReadyAsync();
        Assert.True(Directory.Exists($"/proc/{server}") && Directory.Exists($"/proc/{supervisor}"));

        await held.EndAsync(signal, group);

        await held.IsGoneAsync();
    }

    [PostgresTheory]
    [InlineData(0)]
    [InlineData(200)]
    [InlineData(600)]
    public async Task A_parent_that_is_killed_while_it_makes_the_cluster_leaves_nothing(int milliseconds)
    {
        using HeldCluster held = HeldCluster.Start();
        await held.BeginAsync();
        await Task.Delay(milliseconds);

        await held.EndAsync("KILL");

        await held.IsGoneAsync();
    }

    [PostgresFact]
    public async Task A_shell_that_is_ended_takes_the_server_with_it_and_the_next_command_says_so()
    {
        await using PostgresCluster cluster = await PostgresCluster.StartAsync();
        using var kill = Process.Start("kill", ["-TERM", $"{cluster.SupervisorProcess}"]);
        await kill.WaitForExitAsync();

        var failure = await Assert.ThrowsAsync<LabServerException>(() => cluster.ReloadAsync());

        Assert.Contains("its shell ended early", failure.Message, StringComparison.Ordinal);
        await cluster.DisposeAsync();
        Assert.False(Directory.Exists(cluster.Folder));
    }

    [PostgresFact]
    public async Task A_start_that_is_cancelled_throws_and_no_further_command_is_sent()
    {
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => PostgresCluster.StartAsync(cancellationToken: cancelled.Token));
    }

    [PostgresFact]
    public async Task A_setting_that_the_server_refuses_is_an_error_with_its_words()
    {
        var failure = await Assert.ThrowsAsync<LabServerException>(
            () => PostgresCluster.StartAsync(new Dictionary<string, string> { ["max_connections"] = "many" }));

        Assert.Contains("the server did not start", failure.Message, StringComparison.Ordinal);
        Assert.Contains("max_connections", failure.Message, StringComparison.Ordinal);
    }
}
