namespace Tidepool;

/// <content>
/// The asynchronous forms. Memory needs no waiting: they finish before they return, and throw nothing but for wrong arguments, or what
/// the target of a copy throws instead of a task.
/// </content>
public sealed partial class PooledMemoryStream
{
    /// <summary>Does nothing: there is nothing behind the memory.</summary>
    public override void Flush()
    {
    }

    /// <summary>Does nothing: there is nothing behind the memory.</summary>
    /// <param name="cancellationToken">Cancelled before: then the task is cancelled.</param>
    public override Task FlushAsync(CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled(cancellationToken) : Task.CompletedTask;

    /// <inheritdoc/>
    /// <remarks>Allocates nothing when the result is the one of the read before.</remarks>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        ValueTask<int> read = ReadAsync(buffer.AsMemory(offset, count), cancellationToken);
        if (!read.IsCompletedSuccessfully)
        {
            return read.AsTask();
        }

        StreamCore core = _core;
        int length = read.Result;
        return core.LastRead is { } last && last.Result == length ? last : core.LastRead = Task.FromResult(length);
    }

    /// <inheritdoc/>
    /// <remarks>Allocates nothing.</remarks>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<int>(cancellationToken);
        }

        try
        {
            return new ValueTask<int>(Read(buffer.Span));
        }
        catch (Exception e)
        {
            return ValueTask.FromException<int>(e);
        }
    }

    /// <inheritdoc/>
    /// <remarks>Allocates nothing.</remarks>
    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        return WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();
    }

    /// <inheritdoc/>
    /// <remarks>Allocates nothing.</remarks>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        try
        {
            Write(buffer.Span);
            return default;
        }
        catch (Exception e)
        {
            return ValueTask.FromException(e);
        }
    }

    /// <inheritdoc/>
    /// <remarks>
    /// Writes segment by segment, at least 80 KiB at a time where there is that much; into another stream in memory at once.
    /// </remarks>
    public override Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken)
    {
        ValidateCopyToArguments(destination, bufferSize);
        StreamCore core = Open();
        if (cancellationToken.IsCancellationRequested)
        {
            return Task.FromCanceled(cancellationToken);
        }

        (long start, long end) = EmulateRead(core);
        if (start >= end)
        {
            return Task.CompletedTask;
        }

        if (destination is not MemoryStream)
        {
            return SendAsync(core, destination, start, end, cancellationToken);
        }

        try
        {
            Send(core, destination, start, end);
            return Task.CompletedTask;
        }
        catch (Exception e)
        {
            return Task.FromException(e);
        }
    }
}
