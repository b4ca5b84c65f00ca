using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Tidepool;

namespace Samples;

/// <summary>
/// Pools connections to a server that is no database: a small one of its own that speaks a little of the Redis protocol's inline form
/// (<c>SET key value</c>, <c>GET key</c>, <c>PING</c>, one line for each answer).
/// </summary>
public static class PooledRedisClient
{
    public static async Task RunAsync(TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await using var server = new SmallServer();
        await using var pool = new ResourcePool<Connection>(
            new ConnectionPolicy(server.EndPoint),
            new ResourcePoolOptions { Name = "redis", MaxSize = 4 });

        await Task.WhenAll(Enumerable.Range(0, 100).Select(async i =>
        {
            await using ResourceLease<Connection> lease = await pool.RentAsync();
            await lease.Value.AskAsync($"SET key{i} {i}");
        }));
        await console.WriteLineAsync($"100 callers, at most {server.MostConnections} connections");

        await using (ResourceLease<Connection> lease = await pool.RentAsync())
        {
            await console.WriteLineAsync($"key42 is {await lease.Value.AskAsync("GET key42")}");
        }

        server.DropAll();
        await using (ResourceLease<Connection> lease = await pool.RentAsync())
        {
            await console.WriteLineAsync($"after the server closed every connection, key7 is {await lease.Value.AskAsync("GET key7")}");
        }

        await console.WriteLineAsync($"the pool found broken ones: {pool.GetStatistics().GetDestroyed(DestroyReason.Broken) > 0}");
        await console.WriteLineAsync($"everything returned: {await pool.ShutdownAsync(TimeSpan.FromSeconds(10))}");
    }

    /// <summary>One connection: a line there, a line back.</summary>
    public sealed class Connection(TcpClient client) : IDisposable
    {
        private readonly StreamReader _reader = new(client.GetStream(), Encoding.UTF8);

        /// <summary>A connection on which the server sends without being asked, or that it has closed, is of no use.</summary>
        public bool IsBroken => client.Client.Poll(0, SelectMode.SelectRead);

        public async Task<string> AskAsync(string line, CancellationToken cancellationToken = default)
        {
            await client.GetStream().WriteAsync(Encoding.UTF8.GetBytes(line + "\r\n"), cancellationToken);
            return await _reader.ReadLineAsync(cancellationToken) ?? throw new IOException("The server has closed the connection.");
        }

        public void Dispose()
        {
            _reader.Dispose();
            client.Dispose();
        }
    }

    /// <summary>All that the pool needs to know of connections. Ending one is disposing it, which is the default.</summary>
    private sealed class ConnectionPolicy(IPEndPoint server) : ResourcePolicy<Connection>
    {
        public override async ValueTask<Connection> CreateAsync(CancellationToken cancellationToken)
        {
            var client = new TcpClient { NoDelay = true };
            try
            {
                await client.ConnectAsync(server, cancellationToken);
                return new Connection(client);
            }
            catch
            {
                client.Dispose();
                throw;
            }
        }

        public override bool IsBroken(Connection resource) => resource.IsBroken;

        public override async ValueTask<bool> ValidateAsync(Connection resource, CancellationToken cancellationToken) =>
            await resource.AskAsync("PING", cancellationToken) == "+PONG";
    }

    private sealed class SmallServer : IAsyncDisposable
    {
        private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
        private readonly ConcurrentDictionary<string, string> _values = new();
        private readonly ConcurrentDictionary<TcpClient, bool> _connections = new();
        private readonly Task _accepting;

        internal SmallServer()
        {
            _listener.Start();
            _accepting = AcceptAsync();
        }

        internal IPEndPoint EndPoint => (IPEndPoint)_listener.LocalEndpoint;

        internal int MostConnections { get; private set; }

        internal void DropAll()
        {
            foreach (TcpClient connection in _connections.Keys)
            {
                connection.Close();
            }
        }

        public async ValueTask DisposeAsync()
        {
            _listener.Stop();
            await _accepting;
            DropAll();
        }

        private async Task AcceptAsync()
        {
            try
            {
                while (true)
                {
                    TcpClient client = await _listener.AcceptTcpClientAsync();
                    _connections[client] = true;
                    MostConnections = Math.Max(MostConnections, _connections.Count);
                    _ = ServeAsync(client);
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // The listener was stopped.
            }
        }

        private async Task ServeAsync(TcpClient client)
        {
            try
            {
                using var reader = new StreamReader(client.GetStream(), Encoding.UTF8);
                while (await reader.ReadLineAsync() is { } line)
                {
                    string answer = line.Split(' ') switch
                    {
                        ["PING"] => "+PONG",
                        ["SET", var key, var value] => (_values[key] = value) is not null ? "+OK" : "-",
                        ["GET", var key] => _values.GetValueOrDefault(key, "(nil)"),
                        _ => "-ERR unknown command",
                    };
                    await client.GetStream().WriteAsync(Encoding.UTF8.GetBytes(answer + "\r\n"));
                }
            }
            catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException)
            {
                // The connection was dropped.
            }
            finally
            {
                _connections.TryRemove(client, out _);
                client.Dispose();
            }
        }
    }
}
