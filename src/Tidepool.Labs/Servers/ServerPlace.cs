using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace Tidepool.Labs;

/// <summary>Where a throw-away server can be: a folder and a port.</summary>
internal static class ServerPlace
{
    /// <summary>A socket's path has at most 107 bytes, of which the folder's own name and the socket's take some 40.</summary>
    private const int LongestPlace = 60;

    /// <summary>Where a server's folder is made.</summary>
    public static string Folder =>
        Path.TrimEndingDirectorySeparator(Path.GetTempPath()) is { Length: <= LongestPlace } place ? place : "/tmp";

    /// <summary>
    /// A port below those that the system gives to outgoing connections: one of these could hold it while the server is stopped.
    /// </summary>
    public static int FindFreePort()
    {
        while (true)
        {
            int port = RandomNumberGenerator.GetInt32(15_000, 32_000);
            using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                probe.Bind(new IPEndPoint(IPAddress.Loopback, port));
                return port;
            }
            catch (SocketException failure) when (failure.SocketErrorCode == SocketError.AddressAlreadyInUse)
            {
                // The next one.
            }
        }
    }
}
