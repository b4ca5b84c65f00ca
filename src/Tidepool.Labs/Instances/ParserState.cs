using System.Runtime.InteropServices;
using Microsoft.Extensions.ObjectPool;

namespace Tidepool.Labs;

/// <summary>
/// What a parser keeps between calls: 4 KB of buffer and a few numbers. Resetting it costs next to nothing, so its rows show the pools.
/// What a renter writes lies apart from the ends of the object and of the buffer, where it could share a cache line with another thread's.
/// </summary>
internal sealed class ParserState
{
    /// <summary>Bytes of the buffer.</summary>
    public const int BufferLength = 4096;

    private readonly byte[] _buffer = new byte[BufferLength];
    private Place _place;

    /// <summary>What a renter does: writes one byte.</summary>
    public void Touch()
    {
        _buffer[(_place.Position + (BufferLength / 2)) & (BufferLength - 1)] = 1;
        _place.Position++;
    }

    /// <summary>As good as new; the buffer is overwritten anyway.</summary>
    public void Reset() => _place.Position = 0;

    [StructLayout(LayoutKind.Explicit, Size = 192)]
    private struct Place
    {
        [FieldOffset(96)]
        public int Position;
    }
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
