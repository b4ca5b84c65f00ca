using System.Globalization;
using MySqlConnector;

namespace Tidepool.Labs.Tests.Servers;

/// <summary>What a throw-away MariaDB can be told, and what is left of it.</summary>
public sealed class MariaDbServerTests
{
    [MariaDbFact]
    public async Task It_answers_on_the_loopback_address_alone_and_nothing_of_it_stays()
    {
        MariaDbServer server = await MariaDbServer.StartAsync(new Dictionary<string, string> { ["max_connections"] = "33" });
        await using (server)
        {
            int process = server.ServerProcess!.Value;
            Assert.Equal(33, await server.ReadAsync<int>("SELECT @@max_connections"));
            string port = server.Port.ToString("X4", CultureInfo.InvariantCulture);
            string[] listeners = [.. from table in new[] { "/proc/net/tcp", "/proc/net/tcp6" }
                                     where File.Exists(table)
                                     from line in File.ReadLines(table).Skip(1)
                                     let fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries)
                                     where fields[3] == "0A" && fields[1].EndsWith($":{port}", StringComparison.Ordinal)
                                     select fields[1]];
            Assert.Equal([$"0100007F:{port}"], listeners); // 127.0.0.1, as the kernel prints it
            Assert.False(File.Exists(Path.Combine(server.Folder, "first.sql")));
            await Assert.ThrowsAsync<MySqlException>(async () =>
            {
                await using var wrong = new MySqlConnection(server.ConnectionString + ";Password=wrong;Pooling=false");
                await wrong.OpenAsync();
            });

            await server.ExecuteAsync("CREATE TABLE kept (a int); INSERT INTO kept VALUES (7)");
            foreach (bool isImmediate in new[] { false, true })
            {
                await server.RestartAsync(isImmediate);
                Assert.Equal(7, await server.ReadAsync<int>("SELECT a FROM kept"));
            }

            await Assert.ThrowsAsync<LabServerException>(server.StartAgainAsync);
            Assert.NotEqual(process, server.ServerProcess);
        }

        Assert.False(Directory.Exists(server.Folder));
    }

    [MariaDbFact]
    public async Task A_setting_that_the_server_refuses_is_an_error_with_its_words()
    {
        LabServerException failure = await Assert.ThrowsAsync<LabServerException>(
            () => MariaDbServer.StartAsync(new Dictionary<string, string> { ["no_such_setting"] = "1" }));
        Assert.Contains("no_such_setting", failure.Message, StringComparison.Ordinal);
    }
}
