namespace Tidepool.Data;

/// <summary>A column as a text that is read bit by bit; see <see cref="PooledDbStream"/>.</summary>
internal sealed class PooledDbTextReader(PooledDbDataReader reader, TextReader native) : TextReader
{
    private PooledDbColumn<TextReader> _column = new(reader, native);

    public override int Peek()
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return hold.Native.Peek();
    }

    public override int Read()
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return hold.Native.Read();
    }

    public override int Read(char[] buffer, int index, int count)
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return hold.Native.Read(buffer, index, count);
    }

    public override int Read(Span<char> buffer)
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return hold.Native.Read(buffer);
    }

    public override async Task<int> ReadAsync(char[] buffer, int index, int count)
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return await hold.Native.ReadAsync(buffer, index, count).ConfigureAwait(false);
    }

    public override async ValueTask<int> ReadAsync(Memory<char> buffer, CancellationToken cancellationToken = default)
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return await hold.Native.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
    }

    public override string? ReadLine()
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return hold.Native.ReadLine();
    }

    public override Task<string?> ReadLineAsync() => ReadLineAsync(CancellationToken.None).AsTask();

    public override async ValueTask<string?> ReadLineAsync(CancellationToken cancellationToken)
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return await hold.Native.ReadLineAsync(cancellationToken).ConfigureAwait(false);
    }

    public override string ReadToEnd()
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return hold.Native.ReadToEnd();
    }

    public override Task<string> ReadToEndAsync() => ReadToEndAsync(CancellationToken.None);

    public override async Task<string> ReadToEndAsync(CancellationToken cancellationToken)
    {
        using PooledDbColumn<TextReader>.Hold hold = _column.Enter();
        return await hold.Native.ReadToEndAsync(cancellationToken).ConfigureAwait(false);
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _column.End();
        }

        base.Dispose(disposing);
    }
}
