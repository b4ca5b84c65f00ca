namespace Tidepool.Data;

/// <summary>A column as a text that is read bit by bit; see <see cref="PooledDbStream"/>.</summary>
internal sealed class PooledDbTextReader(PooledDbDataReader reader, TextReader native) : TextReader
{
    private PooledDbColumn<TextReader> _column = new(reader, native);

    private TextReader Native => _column.Native;

    public override int Peek() => Native.Peek();

    public override int Read() => Native.Read();

    public override int Read(char[] buffer, int index, int count) => Native.Read(buffer, index, count);

    public override int Read(Span<char> buffer) => Native.Read(buffer);

    public override Task<int> ReadAsync(char[] buffer, int index, int count) => Native.ReadAsync(buffer, index, count);

    public override ValueTask<int> ReadAsync(Memory<char> buffer, CancellationToken cancellationToken = default) =>
        Native.ReadAsync(buffer, cancellationToken);

    public override string? ReadLine() => Native.ReadLine();

    public override Task<string?> ReadLineAsync() => Native.ReadLineAsync();

    public override ValueTask<string?> ReadLineAsync(CancellationToken cancellationToken) => Native.ReadLineAsync(cancellationToken);

    public override string ReadToEnd() => Native.ReadToEnd();

    public override Task<string> ReadToEndAsync() => Native.ReadToEndAsync();

    public override Task<string> ReadToEndAsync(CancellationToken cancellationToken) => Native.ReadToEndAsync(cancellationToken);

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _column.End();
        }

        base.Dispose(disposing);
    }
}
