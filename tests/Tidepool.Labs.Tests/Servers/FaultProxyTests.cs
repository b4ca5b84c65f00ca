using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Tidepool.Labs.Tests.Servers;

/// <summary>
/// Each fault of the proxy, seen from a client and from a server that sends back what it gets. Times are only compared from below: a slow
/// machine makes them longer.
/// </summary>
[Trait("Category", "Environment")]
public sealed class FaultProxyTests : IAsyncLifetime, IAsyncDisposable
{
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(150);

    private readonly EchoServer _server = new();
    private readonly List<Socket> _clients = [];
    private FaultProxy _proxy = null!;

    public Task InitializeAsync()
    {
        _proxy = new FaultProxy(_server.Port);
        return Task.CompletedTask;
    }

    Task IAsyncLifetime.DisposeAsync() => DisposeAsync().AsTask();

    public async ValueTask DisposeAsync()
    {
        _clients.ForEach(static client => client.Dispose());
        await _proxy.DisposeAsync();
        Assert.Equal(0, _proxy.Open);
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Without_faults_bytes_pass_both_ways_and_ends_are_passed_on()
    {
        Socket client = await ConnectAsync();
        byte[] sent = new byte[200_000];
        Random.Shared.NextBytes(sent);
        Task sending = SendAsync(client, sent);

        Assert.Equal(sent, await ReceiveAsync(client, sent.Length));
        await sending;
        client.Shutdown(SocketShutdown.Send);
        Assert.Equal(0, await client.ReceiveAsync(new byte[1]));
        Assert.Equal(1, _proxy.Accepted);
    }

    [Fact]
    public async Task An_address_that_moves_leads_new_connections_elsewhere_and_keeps_the_open_ones()
    {
        await using var other = new EchoServer();
        Socket before = await ConnectAsync();
        await EchoAsync(before, 1);

        _proxy.MoveTo(other.Port);

        await EchoAsync(await ConnectAsync(), 2, 3, 4);
        Assert.Equal(3, await other.ReceivedAsync(atLeast: 3));
        await EchoAsync(before, 5);
        Assert.Equal(2, await _server.ReceivedAsync(atLeast: 2));
    }

    [Fact]
    public async Task Only_the_loopback_address_is_listened_on()
    {
        foreach (IPAddress address in (await Dns.GetHostAddressesAsync(Dns.GetHostName())).Where(static a => !IPAddress.IsLoopback(a)))
        {
            using var client = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            await Assert.ThrowsAnyAsync<SocketException>(async () => await client.ConnectAsync(address, _proxy.Port));
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Latency_holds_back_one_direction(bool toServer)
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);
        (toServer ? _proxy.ToServer : _proxy.ToClient).Latency = Moment;
        long start = Stopwatch.GetTimestamp();

        await EchoAsync(client, 2);

        Assert.True(Stopwatch.GetElapsedTime(start) >= Moment - TimeSpan.FromMilliseconds(20));
    }

    [Fact]
    public async Task Bandwidth_is_limited()
    {
        Socket client = await ConnectAsync();
        _proxy.ToClient.BytesPerSecond = 20_000;
        long start = Stopwatch.GetTimestamp();

        await EchoAsync(client, new byte[5_000]);

        Assert.True(Stopwatch.GetElapsedTime(start) >= TimeSpan.FromMilliseconds(200));
    }

    [Fact]
    public async Task Slices_arrive_one_by_one()
    {
        Socket client = await ConnectAsync();
        _proxy.ToClient.SliceBytes = 3;
        _proxy.ToClient.BytesPerSecond = 100; // so that they do not meet again in the client's buffer
        byte[] sent = [.. Enumerable.Range(0, 61).Select(static i => (byte)i)];
        await SendAsync(client, sent);

        byte[] first = new byte[sent.Length];
        int length = await client.ReceiveAsync(first);
        // More than one slice when this thread was late.
        Assert.True(length < sent.Length && length % 3 == 0, $"{length} bytes came at once");
        Assert.Equal(sent, first[..length].Concat(await ReceiveAsync(client, sent.Length - length)));
    }

    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public async Task A_blackhole_keeps_what_is_sent_until_it_is_lifted(bool toServer, bool toClient)
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);
        _proxy.ToServer.IsBlackhole = toServer;
        _proxy.ToClient.IsBlackhole = toClient;
        await SendAsync(client, [2]);
        Task<byte[]> answer = ReceiveAsync(client, 1);
        await Task.Delay(Moment);
        Assert.False(answer.IsCompleted);
        Assert.Equal(toServer ? 1 : 2, await _server.ReceivedAsync(toServer ? 1 : 2));

        _proxy.SetBlackhole(false);

        Assert.Equal([2], await answer);
    }

    [Fact]
    public async Task A_blackhole_hides_the_end_of_the_server_and_takes_new_connections()
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);
        _proxy.SetBlackhole(true);
        _server.CloseConnections();
        Task<int> end = client.ReceiveAsync(new byte[1]);
        Socket other = await ConnectAsync();
        await SendAsync(other, [1]);
        Task<byte[]> answer = ReceiveAsync(other, 1);
        await Task.Delay(Moment);
        Assert.False(end.IsCompleted);
        Assert.False(answer.IsCompleted);

        _proxy.SetBlackhole(false);

        Assert.Equal(0, await end);
        Assert.Equal([1], await answer);
    }

    [Fact]
    public async Task A_reset_is_a_reset_on_both_sides()
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);

        _proxy.ResetAll();

        Assert.Equal(SocketError.ConnectionReset, await EndOfAsync(client));
        Assert.Equal(SocketError.ConnectionReset, await _server.EndAsync());
    }

    [Fact]
    public async Task An_orderly_close_is_an_end_on_both_sides()
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);

        _proxy.CloseAll();

        Assert.Equal(SocketError.Success, await EndOfAsync(client));
        Assert.Equal(SocketError.Success, await _server.EndAsync());
    }

    [Fact]
    public async Task A_half_open_connection_is_silent_until_the_client_sends()
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);

        _proxy.HalfOpenAll();

        Assert.Equal(SocketError.ConnectionReset, await _server.EndAsync());
        await Task.Delay(Moment);
        Assert.False(client.Poll(0, SelectMode.SelectRead));
        await SendAsync(client, [2]);
        Assert.Equal(SocketError.ConnectionReset, await EndOfAsync(client));
    }

    [Fact]
    public async Task While_it_refuses_new_connections_end_with_a_reset_are_counted_and_never_reach_the_server()
    {
        Socket old = await ConnectAsync();
        await EchoAsync(old, 1);
        _proxy.IsRefusing = true;
        for (int i = 0; i < 3; i++)
        {
            SocketError? error;
            try
            {
                error = await EndOfAsync(await ConnectAsync());
            }
            catch (SocketException early) // the reset was faster than the end of connecting
            {
                error = early.SocketErrorCode;
            }

            Assert.Equal(SocketError.ConnectionReset, error);
        }

        Assert.Equal((4, 1), (_proxy.Accepted, _proxy.Open));
        await EchoAsync(old, 2); // connections of before are not concerned
        _proxy.IsRefusing = false;
        await EchoAsync(await ConnectAsync(), 3);
    }

    [Fact]
    public async Task A_frozen_connection_is_silent_for_good_and_new_ones_work()
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);

        _proxy.FreezeAll();

        await SendAsync(client, [2]);
        await EchoAsync(await ConnectAsync(), 3);
        await Task.Delay(Moment);
        Assert.False(client.Poll(0, SelectMode.SelectRead));
    }

    [Fact]
    public async Task A_server_on_a_socket_in_the_file_system_is_reached()
    {
        string folder = Directory.CreateTempSubdirectory("proxy").FullName;
        try
        {
            string path = Path.Combine(folder, "socket");
            using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            listener.Bind(new UnixDomainSocketEndPoint(path));
            listener.Listen();
            await using var proxy = new FaultProxy(path);
            using var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            await client.ConnectAsync(IPAddress.Loopback, proxy.Port);
            using Socket server = await listener.AcceptAsync();
            await server.SendAsync(new byte[] { 7 });

            Assert.Equal([7], await ReceiveAsync(client, 1));
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public async Task A_limit_closes_behind_its_last_byte()
    {
        _proxy.ToClient.LimitBytes = 5;
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1, 2, 3);
        await SendAsync(client, [4, 5, 6]);

        Assert.Equal([4, 5], await ReceiveAsync(client, 2));
        Assert.Equal(SocketError.Success, await EndOfAsync(client));
        _proxy.ToClient.LimitBytes = long.MaxValue;
        await EchoAsync(await ConnectAsync(), new byte[100]);
    }

    [Fact]
    public async Task A_slow_connect_is_accepted_and_answered_late()
    {
        TimeSpan delay = 30 * Moment; // all three connect within it, also on a busy machine
        _proxy.ConnectDelay = delay;
        long start = Stopwatch.GetTimestamp();
        Socket[] clients = [await ConnectAsync(), await ConnectAsync(), await ConnectAsync()];

        await Task.WhenAll(clients.Select(client => EchoAsync(client, 1)));

        Assert.True(Stopwatch.GetElapsedTime(start) >= delay - TimeSpan.FromMilliseconds(20));
        Assert.Equal(3, _proxy.MostConnecting);
        _proxy.ConnectDelay = TimeSpan.Zero;
        _proxy.ForgetMostConnecting();
        await EchoAsync(await ConnectAsync(), 1);
        Assert.Equal(1, _proxy.MostConnecting);
    }

    [Fact]
    public async Task A_server_that_refuses_is_a_reset()
    {
        await _server.DisposeAsync();
        SocketError? end;
        try
        {
            end = await EndOfAsync(await ConnectAsync());
        }
        catch (SocketException e)
        {
            end = e.SocketErrorCode; // the reset was there before this side had noticed that it is connected
        }

        Assert.Equal(SocketError.ConnectionReset, end);
    }

    [Fact]
    public async Task Disposal_ends_everything_also_what_is_held_back()
    {
        Socket client = await ConnectAsync();
        await EchoAsync(client, 1);
        _proxy.SetBlackhole(true);
        _proxy.ConnectDelay = TimeSpan.FromHours(1);
        await SendAsync(client, [2]);
        await ConnectAsync();

        await _proxy.DisposeAsync();

        Assert.NotNull(await EndOfAsync(client));
        await Assert.ThrowsAnyAsync<SocketException>(ConnectAsync);
    }

    [Fact]
    public void What_makes_no_sense_is_refused_and_changes_nothing()
    {
        Assert.Throws<ArgumentOutOfRangeException>("serverPort", () => new FaultProxy(0));
        Assert.Throws<ArgumentOutOfRangeException>("serverPort", () => new FaultProxy(65_536));
        Assert.Throws<ArgumentOutOfRangeException>("serverPort", () => _proxy.MoveTo(0));
        Assert.Throws<ArgumentOutOfRangeException>("value", () => _proxy.ConnectDelay = -Moment);
        Assert.Throws<ArgumentOutOfRangeException>("value", () => _proxy.ToServer.Latency = -Moment);
        Assert.Throws<ArgumentOutOfRangeException>("value", () => _proxy.ToServer.BytesPerSecond = 0);
        Assert.Throws<ArgumentOutOfRangeException>("value", () => _proxy.ToServer.SliceBytes = 0);
        Assert.Throws<ArgumentOutOfRangeException>("value", () => _proxy.ToServer.LimitBytes = -1);
        Assert.Equal(
            (TimeSpan.Zero, TimeSpan.Zero, int.MaxValue, int.MaxValue, long.MaxValue),
            (
                _proxy.ConnectDelay,
                _proxy.ToServer.Latency,
                _proxy.ToServer.BytesPerSecond,
                _proxy.ToServer.SliceBytes,
                _proxy.ToServer.LimitBytes));
    }

    private async Task<Socket> ConnectAsync()
    {
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        _clients.Add(client);
        await client.ConnectAsync(IPAddress.Loopback, _proxy.Port);
        return client;
    }

    private static async Task EchoAsync(Socket client, params byte[] bytes)
    {
        await SendAsync(client, bytes);
        Assert.Equal(bytes, await ReceiveAsync(client, bytes.Length));
    }

    private static async Task SendAsync(Socket client, byte[] bytes)
    {
        for (int sent = 0; sent < bytes.Length;)
        {
            sent += await client.SendAsync(bytes.AsMemory(sent));
        }
    }

    private static async Task<byte[]> ReceiveAsync(Socket client, int count)
    {
        byte[] bytes = new byte[count];
        for (int received = 0; received < count;)
        {
            int more = await client.ReceiveAsync(bytes.AsMemory(received));
            Assert.NotEqual(0, more);
            received += more;
        }

        return bytes;
    }

    /// <summary>How the connection ends: in order, or with which error.</summary>
    private static async Task<SocketError?> EndOfAsync(Socket socket)
    {
        try
        {
            Assert.Equal(0, await socket.ReceiveAsync(new byte[1]));
            return SocketError.Success;
        }
        catch (SocketException failure)
        {
            return failure.SocketErrorCode;
        }
    }

    /// <summary>Sends back what it gets.</summary>
    private sealed class EchoServer : IAsyncDisposable
    {
        private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        private readonly System.Collections.Concurrent.ConcurrentBag<Socket> _connections = [];
        private readonly TaskCompletionSource<SocketError> _firstEnd = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly Task _accepting;
        private int _received;

        public EchoServer()
        {
            _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            _listener.Listen();
            Port = ((IPEndPoint)_listener.LocalEndPoint!).Port;
            _accepting = Task.Run(AcceptAsync);
        }

        public int Port { get; }

        /// <summary>How the first connection ended.</summary>
        public Task<SocketError> EndAsync() => _firstEnd.Task;

        /// <summary>Waits until so many bytes have come.</summary>
        /// <returns>How many have come.</returns>
        public async Task<int> ReceivedAsync(int atLeast)
        {
            while (Volatile.Read(ref _received) < atLeast)
            {
                await Task.Delay(1);
            }

            return Volatile.Read(ref _received);
        }

        public void CloseConnections() => _connections.ToList().ForEach(static connection => connection.Shutdown(SocketShutdown.Send));

        public async ValueTask DisposeAsync()
        {
            _listener.Dispose();
            await _accepting;
            _connections.ToList().ForEach(static connection => connection.Dispose());
        }

        private async Task AcceptAsync()
        {
            try
            {
                while (true)
                {
                    Socket connection = await _listener.AcceptAsync();
                    connection.NoDelay = true;
                    _connections.Add(connection);
                    _ = EchoAsync(connection);
                }
            }
            catch (Exception end) when (end is SocketException or ObjectDisposedException)
            {
                // Disposed.
            }
        }

        private async Task EchoAsync(Socket connection)
        {
            byte[] buffer = new byte[4096];
            try
            {
                while (await connection.ReceiveAsync(buffer.AsMemory()) is var count and > 0)
                {
                    Interlocked.Add(ref _received, count);
                    for (int sent = 0; sent < count;)
                    {
                        sent += await connection.SendAsync(buffer.AsMemory(sent, count - sent));
                    }
                }

                _firstEnd.TrySetResult(SocketError.Success);
                connection.Shutdown(SocketShutdown.Send);
            }
            catch (SocketException failure)
            {
                _firstEnd.TrySetResult(failure.SocketErrorCode);
            }
            catch (ObjectDisposedException)
            {
                // Disposed.
            }
        }
    }
}
