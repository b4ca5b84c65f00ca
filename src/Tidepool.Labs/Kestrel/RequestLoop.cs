namespace Tidepool.Labs;

/// <summary>The servers of this measuring process: one for each memory, however many protocols it is measured with.</summary>
internal static class PoolServers
{
    private static readonly Dictionary<KestrelMemory, ServerProcess> ByMemory = [];

    /// <summary>The server of a memory; started by the first call.</summary>
    public static ServerProcess Of(KestrelMemory memory)
    {
        lock (ByMemory)
        {
            if (!ByMemory.TryGetValue(memory, out var server))
            {
                int core = CorePair.OfThisMachine()!.Value.Server;
                server = ServerProcess.Start(ChildCommand.OfThisProgram(), core, memory, watches: false);
                ByMemory.Add(memory, server);
            }

            return server;
        }
    }
}

/// <summary>Sends requests to a server of another process, by a client of a third. The server serves other loops too.</summary>
internal sealed class RequestLoop(ServerProcess server, LoadClient client, KestrelMemory memory, KestrelProtocol protocol) : Loop
{
    private const int WarmRequests = 2000;
    private const int LeastWarmRuns = 4;
    private const int MostWarmRuns = 40;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(150);

    private bool _isWarm;

    /// <summary>Warms the server once; after that it runs nothing when there is less than a request for each connection.</summary>
    public override void Run(int operations)
    {
        if (!_isWarm)
        {
            WarmServer();
            _isWarm = true;
        }

        if (operations >= protocol.Connections())
        {
            Send(operations);
        }
    }

    /// <inheritdoc/>
    public override Sample Measure(int operations)
    {
        ServerState before = server.Ask();
        double perSecond = Send(operations);
        ServerState after = server.Ask();
        double Collections(int generation) => (double)(after.Collections[generation] - before.Collections[generation]) / operations;
        return new(
            1e9 / perSecond, (double)(after.Allocated - before.Allocated) / operations, Collections(0), Collections(1), Collections(2));
    }

    /// <summary>Until the server's compiler has nothing more to do, and so over two pauses.</summary>
    private void WarmServer()
    {
        int still = 0;
        for (int run = 0; run < LeastWarmRuns || (run < MostWarmRuns && still < 2); run++)
        {
            long compiled = server.Ask().Compiled;
            Send(WarmRequests);
            Thread.Sleep(Pause);
            still = server.Ask().Compiled == compiled ? still + 1 : 0;
        }

        // The row must be what it says.
        bool isOurs = server.Ask().Pool.StartsWith(nameof(SlabMemoryPool<byte>), StringComparison.Ordinal);
        if (isOurs != (memory == KestrelMemory.Tidepool))
        {
            throw new LabProcessException($"The server rents from {server.Ask().Pool}.");
        }
    }

    private double Send(int requests) =>
        client.Run(server.Ports.AddressOf(protocol), requests, protocol.LoadArguments()).PerSecondOfAll();
}
