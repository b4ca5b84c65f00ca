using System.Net;
using System.Net.Sockets;

namespace Tidepool.Labs;

/// <summary>
/// Stands between clients and a server, both on the loopback address, and breaks what is between them when it is told to. Each
/// direction has its own faults; others concern the connections that are open, or those to come. Safe to use from several threads.
/// </summary>
internal sealed class FaultProxy : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly HashSet<FaultConnection> _open = [];
    private readonly CancellationTokenSource _end = new();
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly Task _accepting;
    private long _connectDelayTicks;
    private int _accepted;
    private int _mostConnecting;
    private bool _isRefusing;
    private EndPoint _server;

    /// <summary>Begins to listen, on a free port of 127.0.0.1.</summary>
    /// <param name="serverPort">The server's port on 127.0.0.1, 1 to 65535.</param>
    /// <exception cref="ArgumentOutOfRangeException">It is no port.</exception>
    public FaultProxy(int serverPort)
        : this(AddressOf(serverPort))
    {
    }

    /// <summary>
    /// Starts a proxy for a server on a socket in the file system, which is reached also from a network namespace without the server's
    /// network.
    /// </summary>
    /// <param name="serverSocket">The path of the socket.</param>
    public FaultProxy(string serverSocket)
        : this(new UnixDomainSocketEndPoint(serverSocket))
    {
    }

    private FaultProxy(EndPoint server)
    {
        _server = server;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(512);
        Port = ((IPEndPoint)_listener.LocalEndPoint!).Port;
        _accepting = Task.Run(AcceptAsync);
    }

    /// <summary>The port that clients connect to.</summary>
    public int Port { get; }

    /// <summary>What clients send.</summary>
    public FaultDirection ToServer { get; } = new();

    /// <summary>What the server answers.</summary>
    public FaultDirection ToClient { get; } = new();

    /// <summary>How long a new connection waits until it is made to the server; zero or more.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is negative.</exception>
    public TimeSpan ConnectDelay
    {
        get => new(Volatile.Read(ref _connectDelayTicks));
        set
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.Zero);
            Volatile.Write(ref _connectDelayTicks, value.Ticks);
        }
    }

    /// <summary>Whether new connections end at once with a reset (RST), as where a server is away; they count as accepted.</summary>
    public bool IsRefusing
    {
        get
        {
            lock (_gate)
            {
                return _isRefusing;
            }
        }

        set
        {
            lock (_gate)
            {
                _isRefusing = value;
            }
        }
    }

    /// <summary>Connections that were accepted so far.</summary>
    public int Accepted => Volatile.Read(ref _accepted);

    /// <summary>Connections that are open on the client's side.</summary>
    public int Open
    {
        get
        {
            lock (_gate)
            {
                return _open.Count;
            }
        }
    }

    /// <summary>
    /// The most connections at one time to which the server had not yet answered a byte; reset by <see cref="ForgetMostConnecting"/>.
    /// </summary>
    public int MostConnecting
    {
        get
        {
            lock (_gate)
            {
                return _mostConnecting;
            }
        }
    }

    /// <summary>Counts anew.</summary>
    public void ForgetMostConnecting()
    {
        lock (_gate)
        {
            _mostConnecting = 0;
        }
    }

    /// <summary>Leads the connections to come to another server; open ones stay where they are.</summary>
    /// <param name="serverPort">Its port on 127.0.0.1, 1 to 65535.</param>
    /// <exception cref="ArgumentOutOfRangeException">It is no port.</exception>
    public void MoveTo(int serverPort)
    {
        IPEndPoint server = AddressOf(serverPort);
        lock (_gate)
        {
            _server = server;
        }
    }

    /// <summary>Passes nothing either way, or everything again.</summary>
    public void SetBlackhole(bool isBlackhole) => ToServer.IsBlackhole = ToClient.IsBlackhole = isBlackhole;

    /// <summary>Ends the open connections with a reset (RST) to both sides.</summary>
    public void ResetAll() => ForEach(static connection => connection.Reset());

    /// <summary>Ends the open connections in order (FIN) on both sides.</summary>
    public void CloseAll() => ForEach(static connection => connection.Close());

    /// <summary>
    /// Drops the server's side of the open connections only: the client is told nothing, and what it sends next is answered with a reset,
    /// as a server does that was started anew.
    /// </summary>
    public void HalfOpenAll() => ForEach(static connection => connection.DropServer());

    /// <summary>Passes nothing more on the open connections, for good, silently; new ones are not concerned.</summary>
    public void FreezeAll() => ForEach(static connection => connection.Freeze());

    /// <summary>Stops listening and ends all connections; returns when all is closed.</summary>
    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync().ConfigureAwait(false);
        _listener.Dispose();
        await _accepting.ConfigureAwait(false);
        FaultConnection[] open;
        lock (_gate)
        {
            open = [.. _open];
        }

        await Task.WhenAll(open.Select(static connection => connection.Ended)).ConfigureAwait(false);
    }

    private static IPEndPoint AddressOf(int serverPort)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(serverPort, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(serverPort, IPEndPoint.MaxPort);
        return new(IPAddress.Loopback, serverPort);
    }

    private async Task AcceptAsync()
    {
        while (true)
        {
            Socket client;
            try
            {
                client = await _listener.AcceptAsync(_end.Token).ConfigureAwait(false);
            }
            catch (Exception end) when (end is OperationCanceledException or ObjectDisposedException)
            {
                return;
            }
            catch (SocketException)
            {
                continue; // the client was gone before it was accepted
            }

            Begin(client);
        }
    }

    private void Begin(Socket client)
    {
        EndPoint server;
        lock (_gate)
        {
            server = _server;
        }

        ProtocolType protocol = server is IPEndPoint ? ProtocolType.Tcp : ProtocolType.Unspecified;
        var connection = new FaultConnection(client, new Socket(server.AddressFamily, SocketType.Stream, protocol), this);
        bool isRefused;
        lock (_gate)
        {
            _accepted++;
            isRefused = _isRefusing;
            if (!isRefused)
            {
                _open.Add(connection);
                _mostConnecting = Math.Max(_mostConnecting, _open.Count(static open => open.IsConnecting));
            }
        }

        if (isRefused)
        {
            connection.Reset();
            return;
        }

        connection.Begin(server, _end.Token);
    }

    /// <summary>A connection has ended.</summary>
    internal void Remove(FaultConnection connection)
    {
        lock (_gate)
        {
            _open.Remove(connection);
        }
    }

    private void ForEach(Action<FaultConnection> act)
    {
        FaultConnection[] open;
        lock (_gate)
        {
            open = [.. _open];
        }

        Array.ForEach(open, act);
    }
}
