namespace Tidepool.Data;

/// <summary>
/// A column as a stream. Where the provider uses its stream again for later columns, also those that the next renter of the session
/// reads, this one reaches it only as long as its own reader does; where it does not, as long as the connection has the session.
/// </summary>
internal sealed class PooledDbStream(PooledDbDataReader reader, Stream native) : Stream
{
    private PooledDbColumn<Stream> _column = new(reader, native);

    public override bool CanRead => _column.IsReachable && Native.CanRead;

    public override bool CanSeek => _column.IsReachable && Native.CanSeek;

    public override bool CanWrite => false;

    public override long Length => Native.Length;

    public override long Position
    {
        get => Native.Position;
        set => Native.Position = value;
    }

    private Stream Native => _column.Native;

    public override int Read(byte[] buffer, int offset, int count)
    {
        using PooledDbColumn<Stream>.Hold hold = _column.Enter();
        return hold.Native.Read(buffer, offset, count);
    }

    public override int Read(Span<byte> buffer)
    {
        using PooledDbColumn<Stream>.Hold hold = _column.Enter();
        return hold.Native.Read(buffer);
    }

    public override int ReadByte()
    {
        using PooledDbColumn<Stream>.Hold hold = _column.Enter();
        return hold.Native.ReadByte();
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        return ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        using PooledDbColumn<Stream>.Hold hold = _column.Enter();
        return await hold.Native.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
    }

    public override long Seek(long offset, SeekOrigin origin) => Native.Seek(offset, origin);

    public override void Flush() => Native.Flush();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _column.End();
        }

        base.Dispose(disposing);
    }
}
