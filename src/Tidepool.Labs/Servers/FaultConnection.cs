using System.Net;
using System.Net.Sockets;

namespace Tidepool.Labs;

/// <summary>One connection through a <see cref="FaultProxy"/>: a client's socket, the server's, and what passes between them.</summary>
internal sealed class FaultConnection(Socket client, Socket server, FaultProxy proxy)
{
    private const int PieceBytes = 16 << 10;

    private volatile bool _isServerGone;
    private volatile bool _isFrozen;
    private volatile bool _hasAnswer;

    /// <summary>Whether the server has not answered a byte yet.</summary>
    public bool IsConnecting => !_hasAnswer;

    /// <summary>Completes when both sides are closed.</summary>
    public Task Ended { get; private set; } = Task.CompletedTask;

    /// <summary>Connects to the server and passes bytes until one side ends.</summary>
    public void Begin(EndPoint address, CancellationToken end)
    {
        client.NoDelay = true;
        if (address is IPEndPoint)
        {
            server.NoDelay = true;
        }

        Ended = Task.Run(() => RunAsync(address, end), CancellationToken.None);
    }

    /// <summary>Ends both sides with a reset.</summary>
    public void Reset()
    {
        ResetOne(client);
        ResetOne(server);
    }

    /// <summary>Ends both sides in order.</summary>
    public void Close()
    {
        ShutOne(client);
        ShutOne(server);
        client.Dispose();
        server.Dispose();
    }

    /// <summary>Passes nothing more.</summary>
    public void Freeze() => _isFrozen = true;

    /// <summary>Drops the server's side; the client learns of it when it sends.</summary>
    public void DropServer()
    {
        _isServerGone = true;
        ResetOne(server);
    }

    private async Task RunAsync(EndPoint address, CancellationToken end)
    {
        try
        {
            await Task.Delay(proxy.ConnectDelay, end).ConfigureAwait(false);
            await server.ConnectAsync(address, end).ConfigureAwait(false);
            await Task.WhenAll(
                PassAsync(client, server, proxy.ToServer, end),
                PassAsync(server, client, proxy.ToClient, end)).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException or OperationCanceledException)
        {
            _hasAnswer = true; // the server refuses, or the proxy ends
            Reset();
        }
        finally
        {
            client.Dispose();
            server.Dispose();
            proxy.Remove(this);
        }
    }

    /// <summary>Passes what comes from one side to the other. An end is passed on as an end, an error as a reset.</summary>
    private async Task PassAsync(Socket from, Socket to, FaultDirection direction, CancellationToken end)
    {
        byte[] buffer = new byte[PieceBytes];
        long passed = 0;
        try
        {
            while (true)
            {
                int count = await from.ReceiveAsync(buffer.AsMemory(), end).ConfigureAwait(false);
                _hasAnswer |= from == server; // also an end is one
                await direction.WaitUntilOpenAsync(end).ConfigureAwait(false);
                if (_isFrozen)
                {
                    await Task.Delay(Timeout.Infinite, end).ConfigureAwait(false);
                }

                if (_isServerGone)
                {
                    throw new SocketException((int)SocketError.ConnectionReset);
                }

                if (count == 0)
                {
                    ShutOne(to);
                    return;
                }

                direction.CountPiece();
                await Task.Delay(direction.Latency, end).ConfigureAwait(false);
                count = (int)Math.Clamp(direction.LimitBytes - passed, 0, count);
                await SendAsync(buffer.AsMemory(0, count), to, direction, end).ConfigureAwait(false);
                passed += count;
                if (passed >= direction.LimitBytes)
                {
                    Close();
                    return;
                }
            }
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException)
        {
            _hasAnswer = true;
            if (!_isServerGone)
            {
                Reset();
            }
            else if (from == client)
            {
                ResetOne(client);
            }
        }
    }

    private static async Task SendAsync(ReadOnlyMemory<byte> bytes, Socket to, FaultDirection direction, CancellationToken end)
    {
        while (!bytes.IsEmpty)
        {
            int slice = Math.Min(bytes.Length, direction.SliceBytes);
            if (direction.BytesPerSecond is var rate and < int.MaxValue)
            {
                slice = Math.Min(slice, Math.Max(1, rate / 20));
                await Task.Delay(TimeSpan.FromSeconds((double)slice / rate), end).ConfigureAwait(false);
            }

            ReadOnlyMemory<byte> rest = bytes[..slice];
            while (!rest.IsEmpty)
            {
                rest = rest[await to.SendAsync(rest, end).ConfigureAwait(false)..];
            }

            bytes = bytes[slice..];
        }
    }

    private static void ResetOne(Socket socket)
    {
        try
        {
            socket.LingerState = new LingerOption(true, 0);
        }
        catch (Exception gone) when (gone is SocketException or ObjectDisposedException)
        {
            return;
        }

        socket.Dispose();
    }

    private static void ShutOne(Socket socket)
    {
        try
        {
            socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception gone) when (gone is SocketException or ObjectDisposedException)
        {
            // It has ended already.
        }
    }
}
