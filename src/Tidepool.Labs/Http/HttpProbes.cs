using System.Diagnostics;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Tidepool.Labs;

/// <summary>What is counted about ways to send requests.</summary>
internal static class HttpProbes
{
    /// <summary>Metric: sockets in TIME_WAIT that belong to a port of the server, after the clients were disposed.</summary>
    public const string TimeWait = "time_wait_count";

    /// <summary>Metric: requests in percent that left no socket in TIME_WAIT.</summary>
    public const string WithoutSocket = "without_socket_percent";

    /// <summary>Metric: requests that were answered by the old server though they began later than the lifetime after the switch.</summary>
    public const string Late = "late_requests";

    /// <summary>Metric: requests that failed because no port was left.</summary>
    public const string Failed = "failed_requests";

    /// <summary>Metric: requests answered beyond the number of ports.</summary>
    public const string BeyondPorts = "beyond_ports";

    /// <summary>How long handlers and connections live in the measurement of the switch; the factory takes nothing shorter.</summary>
    public static readonly TimeSpan Lifetime = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(50);

    /// <summary>Sends requests one after another and counts the sockets that are left.</summary>
    public static Dictionary<string, double> Sockets(string subject, int requests) =>
        SocketsAsync(subject, requests).GetAwaiter().GetResult();

    /// <summary>Two servers, and an address that changes from one to the other while requests go on.</summary>
    public static Dictionary<string, double> Switch(string subject, ProbeSite site) => SwitchAsync(subject, site).GetAwaiter().GetResult();

    /// <summary>Counts as <see cref="Sockets"/> does, where few ports are left, and none is used again within a minute.</summary>
    public static Dictionary<string, double> Ports(string subject, int requests) => PortsAsync(subject, requests).GetAwaiter().GetResult();

    /// <summary>
    /// Sockets in TIME_WAIT with the server's port at either end, of both address families: a client that prefers IPv6 reaches 127.0.0.1
    /// as a mapped address, and the system lists its socket with the others of IPv6.
    /// </summary>
    public static int CountTimeWait(int port) => IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpConnections().Count(connection =>
        connection.State == TcpState.TimeWait && (connection.LocalEndPoint.Port == port || connection.RemoteEndPoint.Port == port));

    private static async Task<Dictionary<string, double>> SocketsAsync(string name, int requests)
    {
        await using LoopbackServer server = await LoopbackServer.StartAsync("A").ConfigureAwait(false);
        int before = CountTimeWait(server.Address.Port);
        await using (HttpSubject subject = HttpSubject.Open(name, HttpSubject.NewHandler, TimeSpan.FromMinutes(2)))
        {
            for (int i = 0; i < requests; i++)
            {
                await subject.GetAsync(server.Address).ConfigureAwait(false);
            }
        }

        int left = await SettleAsync(server, before).ConfigureAwait(false);
        return new()
        {
            [TimeWait] = left,
            ["requests_count"] = requests,
            ["connections_count"] = server.Connections,
            [WithoutSocket] = Math.Max(0, 100.0 * (requests - left) / requests),
        };
    }

    private static async Task<Dictionary<string, double>> SwitchAsync(string name, ProbeSite site)
    {
        await using LoopbackServer old = await LoopbackServer.StartAsync("old").ConfigureAwait(false);
        await using LoopbackServer current = await LoopbackServer.StartAsync("new").ConfigureAwait(false);
        var directory = new Directory(old.Address);
        await using HttpSubject subject = HttpSubject.Open(name, directory.NewHandler, Lifetime);
        var address = new Uri("http://service.test/");
        await subject.GetAsync(address).ConfigureAwait(false);
        site.Quiet();
        await Task.Delay(Pace * 4).ConfigureAwait(false);
        await subject.GetAsync(address).ConfigureAwait(false);

        directory.Change(current.Address);
        long switched = Stopwatch.GetTimestamp();
        int requests = 0;
        int byOld = 0;
        int late = 0;
        TimeSpan? followed = null;
        for (TimeSpan begun = default; begun < Lifetime * 2; requests++)
        {
            begun = Stopwatch.GetElapsedTime(switched);
            if (await subject.GetAsync(address).ConfigureAwait(false) == "new")
            {
                followed ??= begun;
            }
            else
            {
                byOld++;
                late += begun > Lifetime ? 1 : 0;
            }

            await Task.Delay(Pace).ConfigureAwait(false);
        }

        var metrics = new Dictionary<string, double>
        {
            [Late] = late,
            ["by_old_requests"] = byOld,
            ["all_requests"] = requests,
            ["lifetime_ns"] = Lifetime.TotalNanoseconds,
        };
        if (followed is { } after)
        {
            metrics["followed_after_ns"] = after.TotalNanoseconds;
        }

        return metrics;
    }

    private static async Task<Dictionary<string, double>> PortsAsync(string name, int requests)
    {
        await using LoopbackServer server = await LoopbackServer.StartAsync("A").ConfigureAwait(false);
        await using HttpSubject subject = HttpSubject.Open(name, HttpSubject.NewHandler, TimeSpan.FromMinutes(2));
        int failed = 0;
        int? first = null;
        for (int i = 0; i < requests; i++)
        {
            try
            {
                await subject.GetAsync(server.Address).ConfigureAwait(false);
            }
            catch (HttpRequestException e) when (e.InnerException is SocketException { SocketErrorCode: SocketError.AddressNotAvailable })
            {
                failed++;
                first ??= i + 1;
            }
        }

        var metrics = new Dictionary<string, double>
        {
            [Failed] = failed,
            ["all_requests"] = requests,
            [BeyondPorts] = Math.Max(0, requests - failed - NetworkNamespace.Ports),
            [TimeWait] = CountTimeWait(server.Address.Port),
        };
        if (first is { } number)
        {
            metrics["first_failed_request"] = number;
        }

        return metrics;
    }

    /// <summary>
    /// The sockets in TIME_WAIT once every connection is either open or among them: the last ones close while the client is gone already.
    /// </summary>
    private static async Task<int> SettleAsync(LoopbackServer server, int before)
    {
        int left = 0;
        for (int tries = 0; tries < 100; tries++)
        {
            left = CountTimeWait(server.Address.Port) - before;
            if (left + server.Open >= server.Connections)
            {
                break;
            }

            await Task.Delay(20).ConfigureAwait(false);
        }

        return left;
    }

    /// <summary>What a name server is to the clients: the address that new connections go to.</summary>
    private sealed class Directory(Uri address)
    {
        private volatile Uri _address = address;

        public void Change(Uri address) => _address = address;

        public SocketsHttpHandler NewHandler()
        {
            SocketsHttpHandler handler = HttpSubject.NewHandler();
            handler.ConnectCallback = ConnectAsync;
            return handler;
        }

        private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancellationToken)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            try
            {
                await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _address.Port), cancellationToken).ConfigureAwait(false);
                return new NetworkStream(socket, ownsSocket: true);
            }
            catch
            {
                socket.Dispose();
                throw;
            }
        }
    }
}
