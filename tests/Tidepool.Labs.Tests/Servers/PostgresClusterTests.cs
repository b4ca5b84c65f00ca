using System.Globalization;
using Npgsql;

namespace Tidepool.Labs.Tests.Servers;

/// <summary>What a cluster can be told, on one server; each test leaves it running.</summary>
public sealed class PostgresClusterTests(PostgresClusterTests.Server server) : IClassFixture<PostgresClusterTests.Server>
{
    private const string Torn = "torn";

    private PostgresCluster Cluster => server.Cluster;

    public sealed class Server : IAsyncLifetime
    {
        internal PostgresCluster Cluster { get; private set; } = null!;

        public async Task InitializeAsync() =>
            Cluster = PostgresCluster.Missing is null
                ? await PostgresCluster.StartAsync(new Dictionary<string, string> { ["max_connections"] = "27" })
                : null!;

        public async Task DisposeAsync() => await (Cluster?.DisposeAsync() ?? default);
    }

    [PostgresFact]
    public async Task It_answers_and_has_the_settings_that_were_given()
    {
        Assert.Equal("27", await Cluster.ReadAsync<string>("SHOW max_connections"));
        Assert.Equal("off", await Cluster.ReadAsync<string>("SHOW fsync"));
    }

    [PostgresFact]
    public void Nothing_listens_beyond_the_loopback_address()
    {
        string port = Cluster.Port.ToString("X4", CultureInfo.InvariantCulture);
        string[] listeners = [.. from table in new[] { "/proc/net/tcp", "/proc/net/tcp6" }
                                 where File.Exists(table)
                                 from line in File.ReadLines(table).Skip(1)
                                 let fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries)
                                 where fields[3] == "0A" && fields[1].EndsWith($":{port}", StringComparison.Ordinal)
                                 select fields[1]];

        Assert.Equal([$"0100007F:{port}"], listeners); // 127.0.0.1, as the kernel prints it
        Assert.DoesNotContain(Cluster.Port, Enumerable.Range(32_768, 28_232)); // none of those of outgoing connections
    }

    [PostgresFact]
    public void It_does_not_run_as_root_and_its_folder_is_its_own()
    {
        string user =
            File.ReadLines($"/proc/{Cluster.ServerProcess}/status")
                .Single(static line => line.StartsWith("Uid:", StringComparison.Ordinal)).Split('\t')[1];

        Assert.NotEqual("0", user);
        Assert.True(OperatingSystem.IsWindows()
            || File.GetUnixFileMode(Cluster.Folder) == (UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute));
        Assert.False(File.Exists(Path.Combine(Cluster.Folder, "password")));
    }

    [PostgresFact]
    public async Task A_wrong_password_is_refused()
    {
        await using var connection = new NpgsqlConnection(Cluster.ConnectionString + ";Password=wrong;Pooling=false");

        Assert.Equal("28P01", (await Assert.ThrowsAsync<PostgresException>(() => connection.OpenAsync())).SqlState);
    }

    [PostgresFact]
    public async Task Its_socket_is_short_enough_and_works()
    {
        await using var connection = new NpgsqlConnection(Cluster.ConnectionString + $";Host={Cluster.Folder};Pooling=false");
        await connection.OpenAsync();

        Assert.Equal("", await new NpgsqlCommand("SELECT coalesce(host(inet_server_addr()), '')", connection).ExecuteScalarAsync());
    }

    [PostgresTheory]
    [InlineData(false, "57P01")]
    [InlineData(true, Torn)] // 57P02 comes as a warning; then the connection ends
    public async Task It_stops_in_the_way_that_was_asked_for_and_starts_again_with_its_data(bool isImmediate, string code)
    {
        await Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS kept AS SELECT 7 AS value");
        await Cluster.ExecuteAsync("CHECKPOINT");
        await using NpgsqlConnection session = await Cluster.OpenAsync();
        int port = Cluster.Port;

        await Cluster.StopAsync(isImmediate);

        int? process = Cluster.ServerProcess;
        string? next = await StateOfNextUseAsync(session);
        await Assert.ThrowsAsync<NpgsqlException>(() => Cluster.OpenAsync());
        await Cluster.StopAsync();
        await Cluster.StartAgainAsync();
        Assert.Null(process);
        Assert.Equal(code, next);
        Assert.Equal(port, Cluster.Port);
        Assert.Equal(7, await Cluster.ReadAsync<int>("SELECT value FROM kept"));
        await Assert.ThrowsAsync<LabServerException>(() => Cluster.StartAgainAsync());
    }

    [PostgresFact]
    public async Task A_server_that_drains_refuses_new_sessions_and_keeps_old_ones()
    {
        await using NpgsqlConnection session = await Cluster.OpenAsync();
        await Cluster.DrainAsync();
        string? state = null;
        for (int tries = 0; state is null && tries < 6000; tries++)
        {
            try
            {
                await (await Cluster.OpenAsync()).DisposeAsync(); // until the signal has arrived
                await Task.Delay(10);
            }
            catch (PostgresException failure)
            {
                state = failure.SqlState;
            }
        }

        string? next = await StateOfNextUseAsync(session);
        await Cluster.RestartAsync();
        Assert.Equal("57P03", state);
        Assert.Null(next);
    }

    [PostgresFact]
    public async Task A_session_that_is_terminated_is_gone_and_others_stay()
    {
        await using NpgsqlConnection one = await Cluster.OpenAsync();
        await using NpgsqlConnection other = await Cluster.OpenAsync();

        await Cluster.TerminateAsync(one.ProcessID);

        Assert.Equal("57P01", await StateOfNextUseAsync(one));
        Assert.Null(await StateOfNextUseAsync(other));
        Assert.Equal([other.ProcessID], (await Cluster.ListSessionsAsync()).Select(static s => s.Process));
        Assert.Equal(1, await Cluster.TerminateAllAsync());
        Assert.Equal("57P01", await StateOfNextUseAsync(other));
    }

    [PostgresFact]
    public async Task A_killed_process_makes_the_server_recover()
    {
        await using NpgsqlConnection killed = await Cluster.OpenAsync();
        await using NpgsqlConnection other = await Cluster.OpenAsync();
        int? process = Cluster.ServerProcess;

        await Cluster.CrashAsync(killed.ProcessID);

        Assert.Equal(Torn, await StateOfNextUseAsync(other));
        Assert.Equal(process, Cluster.ServerProcess);
        Assert.Equal(1, await Cluster.ReadAsync<int>("SELECT 1"));
    }

    [PostgresFact]
    public async Task A_setting_is_changed_for_new_sessions_and_changed_back()
    {
        await Cluster.AlterSystemAsync("default_transaction_read_only", "on");
        var failure = await Assert.ThrowsAsync<PostgresException>(() => Cluster.ExecuteAsync("CREATE TABLE refused ()"));
        await Cluster.AlterSystemAsync("default_transaction_read_only", null);
        await Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS accepted ()");

        Assert.Equal("25006", failure.SqlState);
    }

    [PostgresTheory]
    [InlineData("listen_addresses", "*")]
    [InlineData("port", "1")]
    [InlineData("a b", "1")]
    [InlineData("", "1")]
    [InlineData("work_mem", "1MB'\nlisten_addresses='*")]
    public async Task A_setting_that_would_break_out_is_refused_by_name(string name, string value)
    {
        var failure = await Assert.ThrowsAsync<ArgumentException>(
            () => PostgresCluster.StartAsync(new Dictionary<string, string> { [name] = value }));

        Assert.Contains(name, failure.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ArgumentException>(() => Cluster.AlterSystemAsync(name, value));
    }

    [PostgresFact]
    public async Task Two_clusters_do_not_know_each_other()
    {
        await using PostgresCluster other = await PostgresCluster.StartAsync();

        Assert.NotEqual(Cluster.Port, other.Port);
        Assert.NotEqual(Cluster.Folder, other.Folder);
        await using var connection = new NpgsqlConnection(other.ConnectionStringTo(Cluster.Port) + ";Pooling=false");
        Assert.Equal("28P01", (await Assert.ThrowsAsync<PostgresException>(() => connection.OpenAsync())).SqlState);
    }

    /// <summary>The SQLSTATE of the next statement, whether the connection ended without one, or null when it works.</summary>
    private static async Task<string?> StateOfNextUseAsync(NpgsqlConnection connection)
    {
        try
        {
            await new NpgsqlCommand("SELECT 1", connection).ExecuteScalarAsync();
            return null;
        }
        catch (PostgresException failure)
        {
            return failure.SqlState;
        }
        catch (NpgsqlException failure) when (failure.InnerException is IOException)
        {
            return Torn;
        }
    }
}
