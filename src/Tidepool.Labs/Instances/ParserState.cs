using Microsoft.Extensions.ObjectPool;

namespace Tidepool.Labs;

/// <summary>
/// What a parser keeps between calls: 4 KB of buffer and a few numbers. Resetting it costs next to nothing, so its rows show the pools.
/// </summary>
internal sealed class ParserState
{
    /// <summary>Bytes of the buffer.</summary>
    public const int BufferLength = 4096;

    private readonly byte[] _buffer = new byte[BufferLength];
    private int _position;

    /// <summary>What a renter does: writes one byte.</summary>
    public void Touch()
    {
        _buffer[_position & (BufferLength - 1)] = 1;
        _position++;
    }

    /// <summary>As good as new; the buffer is overwritten anyway.</summary>
    public void Reset() => _position = 0;
}

/// <summary>The policy of our pool.</summary>
internal readonly struct ParserStatePolicy : IObjectPolicy<ParserState>
{
    public ParserState Create() => new();

    public bool TryReset(ParserState item)
    {
        item.Reset();
        return true;
    }

    public void Destroy(ParserState item)
    {
    }
}

/// <summary>The policy of the pool of Microsoft.Extensions.ObjectPool.</summary>
internal sealed class MicrosoftParserStatePolicy : PooledObjectPolicy<ParserState>
{
    public override ParserState Create() => new();

    public override bool Return(ParserState obj)
    {
        obj.Reset();
        return true;
    }
}
