using System.Globalization;

namespace Tidepool.Labs;

/// <summary>Where a server of lab <c>kestrel</c> rents its buffers.</summary>
internal enum KestrelMemory
{
    /// <summary>From Kestrel's own pool.</summary>
    Own,

    /// <summary>From ours, by <c>UseTidepoolMemoryPool</c>.</summary>
    Tidepool,
}

/// <summary>What clients of lab <c>kestrel</c> speak.</summary>
internal enum KestrelProtocol
{
    /// <summary>HTTP/1.1.</summary>
    Http1,

    /// <summary>HTTP/2 without TLS, known in advance (h2c).</summary>
    Http2,

    /// <summary>HTTP/1.1 over TLS.</summary>
    Tls,
}

/// <summary>What is said of memory and protocols in tables.</summary>
internal static class KestrelNames
{
    /// <summary>The subject of ours.</summary>
    public const string Ours = "UseTidepoolMemoryPool";

    /// <summary>The subject.</summary>
    public static string Name(this KestrelMemory memory) => memory == KestrelMemory.Own ? "Kestrel's own pool" : Ours;

    /// <summary>The coordinate of a cell.</summary>
    public static string Name(this KestrelProtocol protocol) => protocol switch
    {
        KestrelProtocol.Http1 => "HTTP/1.1",
        KestrelProtocol.Http2 => "HTTP/2",
        _ => "HTTP/1.1, TLS",
    };

    /// <summary>Connections of the client.</summary>
    public static int Connections(this KestrelProtocol protocol) => protocol == KestrelProtocol.Http2 ? 4 : 16;

    /// <summary>What h2load needs to speak it: one thread, and requests that wait for their answers, sixteen at a time.</summary>
    public static IEnumerable<string> LoadArguments(this KestrelProtocol protocol)
    {
        string connections = protocol.Connections().ToString(CultureInfo.InvariantCulture);
        return protocol == KestrelProtocol.Http2 ? ["-c", connections, "-m", "4"] : ["--h1", "-c", connections];
    }
}
