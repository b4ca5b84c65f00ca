using System.Net;
using System.Net.Sockets;

namespace Tidepool.Labs;

/// <summary>A server on loopback that sends back what it gets, and closes all its connections when it is told to.</summary>
internal sealed class EchoServer : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<Socket> _connections = [];

    /// <summary>Listens.</summary>
    public EchoServer()
    {
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(128);
        _ = AcceptAsync();
    }

    /// <summary>Where it listens.</summary>
    public EndPoint EndPoint => _listener.LocalEndPoint!;

    /// <summary>Closes all connections, as soon as there are that many.</summary>
    public void Kill(int connections)
    {
        Socket[] all;
        do
        {
            Thread.Sleep(1);
            lock (_connections)
            {
                all = [.. _connections];
            }
        }
        while (all.Length < connections);

        foreach (Socket socket in all)
        {
            socket.Close(0);
        }

        Thread.Sleep(20); // for the news to arrive
    }

    /// <inheritdoc/>
    public void Dispose() => _listener.Dispose();

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                Socket socket = await _listener.AcceptAsync().ConfigureAwait(false);
                lock (_connections)
                {
                    _connections.Add(socket);
                }

                _ = EchoAsync(socket);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The listener was closed.
        }
    }

    private static async Task EchoAsync(Socket socket)
    {
        byte[] buffer = new byte[64];
        try
        {
            for (int read; (read = await socket.ReceiveAsync(buffer.AsMemory()).ConfigureAwait(false)) > 0;)
            {
                await socket.SendAsync(buffer.AsMemory(0, read)).ConfigureAwait(false);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Killed, or the client has gone.
        }
    }
}
