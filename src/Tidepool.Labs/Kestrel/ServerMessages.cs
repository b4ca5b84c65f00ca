namespace Tidepool.Labs;

/// <summary>The first line of a server: the ports that it listens on.</summary>
internal sealed record ServerPorts(int Http1, int Http2, int Tls)
{
    /// <summary>Where a protocol is spoken.</summary>
    public Uri AddressOf(KestrelProtocol protocol, string path = "/") => protocol switch
    {
        KestrelProtocol.Http1 => new($"http://127.0.0.1:{Http1}{path}"),
        KestrelProtocol.Http2 => new($"http://127.0.0.1:{Http2}{path}"),
        _ => new($"https://127.0.0.1:{Tls}{path}"),
    };
}

/// <summary>What a server knows of itself.</summary>
internal sealed record ServerState
{
    /// <summary>The type of the pool that the last connection was given; empty before the first.</summary>
    public required string Pool { get; init; }

    /// <summary>Connections that are open.</summary>
    public required int Connections { get; init; }

    /// <summary>Requests that wait to be released.</summary>
    public required int Held { get; init; }

    /// <summary>Bytes that the process has allocated.</summary>
    public required long Allocated { get; init; }

    /// <summary>Collections of the process.</summary>
    public required int[] Collections { get; init; }

    /// <summary>Methods that were compiled.</summary>
    public required long Compiled { get; init; }

    /// <summary>Bytes of blocks that are leased; null where the server does not watch its pool.</summary>
    public long? LeasedBytes { get; init; }

    /// <summary>Bytes of blocks that wait idle; null where the server does not watch its pool.</summary>
    public long? IdleBytes { get; init; }

    /// <summary>Resident memory of the process, in bytes.</summary>
    public required long Resident { get; init; }
}
