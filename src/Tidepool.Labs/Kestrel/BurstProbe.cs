using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Labs;

/// <summary>
/// What a server holds when many clients send large bodies at once, and what is left later. The server reads no body before all are
/// there, so the peak depends on no speed.
/// </summary>
internal static class BurstProbe
{
    /// <summary>Clients, each with a connection and a body.</summary>
    public const int Clients = 64;

    /// <summary>Bytes of a body: as many as the server buffers of one connection.</summary>
    public const int BodyBytes = 1 << 20;

    /// <summary>Metric: bytes of the pool after the wait, in percent of the peak.</summary>
    public const string Kept = "kept_percent";

    /// <summary>Metric: blocks that are leased at the end.</summary>
    public const string Leased = "leased at the end_count";

    /// <summary>Metric: requests without a good answer.</summary>
    public const string Failed = "failed requests_count";

    /// <summary>Metric: bytes of the pool at the peak, leased and idle.</summary>
    public const string PeakBytes = "pool at the peak_B";

    /// <summary>How long the pool is left alone in a full run.</summary>
    public static readonly TimeSpan Wait = TimeSpan.FromSeconds(60);

    private const int BlockBytes = 4096;
    private const int WarmRequests = 500;
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(25);
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(60);

    /// <summary>Sends some requests by each protocol, makes the burst, and looks again after the wait when there is one.</summary>
    /// <exception cref="LabProcessException">The server or its client failed.</exception>
    public static Dictionary<string, double> Run(ServerProcess server, LoadClient client, TimeSpan? wait, ProbeSite site)
    {
        long failed = Enum.GetValues<KestrelProtocol>()
            .Sum(protocol => client.Run(server.Ports.AddressOf(protocol), WarmRequests, protocol.LoadArguments()).Failed);
        ServerState start = server.Ask();
        string body = Path.Combine(RunFolder.OfThisProcess, $"body-{Environment.ProcessId}");
        File.WriteAllBytes(body, new byte[BodyBytes]);
        try
        {
            LoadClient.RunningLoad load = client.Start(
                server.Ports.AddressOf(KestrelProtocol.Http1, ServerProgram.HoldPath),
                Clients,
                ["--h1", "-c", Clients.ToString(CultureInfo.InvariantCulture), "-d", body]);
            ServerState peak = AskAtPeak(server);
            server.Release();
            LoadResult result = load.Finish();
            ServerState end = AskWhenClosed(server);
            var found = new Dictionary<string, double>
            {
                [PeakBytes] = BytesOf(peak),
                ["RSS at the start_B"] = start.Resident,
                ["RSS at the peak_B"] = peak.Resident,
                [Failed] = failed + result.Failed,
            };
            if (wait is { } time)
            {
                site.Quiet();
                Thread.Sleep(time);
                end = server.Ask();
                found[$"pool after {time.TotalSeconds:0} s_B"] = BytesOf(end);
                found[$"RSS after {time.TotalSeconds:0} s_B"] = end.Resident;
                found["RSS after a collection_B"] = server.Collect().Resident;
                found[Kept] = 100 * BytesOf(end) / BytesOf(peak);
            }

            found[Leased] = end.LeasedBytes!.Value / BlockBytes;
            return found;
        }
        finally
        {
            File.Delete(body);
        }
    }

    private static double BytesOf(ServerState state) => state.LeasedBytes!.Value + state.IdleBytes!.Value;

    /// <summary>The state in which every body has arrived and is held.</summary>
    private static ServerState AskAtPeak(ServerProcess server)
    {
        long start = Stopwatch.GetTimestamp();
        ServerState state = server.Ask();
        while (state.Held < Clients || state.LeasedBytes < (long)Clients * BodyBytes)
        {
            if (Stopwatch.GetElapsedTime(start) > Longest)
            {
                throw new LabProcessException(
                    $"Only {state.Held} of {Clients} requests, and {state.LeasedBytes} bytes of blocks, reached the server.");
            }

            Thread.Sleep(Poll);
            state = server.Ask();
        }

        return state;
    }

    /// <summary>The state in which every connection has ended; the last one that was asked for when that takes too long.</summary>
    private static ServerState AskWhenClosed(ServerProcess server)
    {
        long start = Stopwatch.GetTimestamp();
        ServerState state = server.Ask();
        while ((state.Connections > 0 || state.LeasedBytes > 0) && Stopwatch.GetElapsedTime(start) < Longest / 6)
        {
            Thread.Sleep(Poll);
            state = server.Ask();
        }

        return state;
    }
}
