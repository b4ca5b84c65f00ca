using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;

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
    [SuppressMessage("Design", "CA1031:Do not catch general exception types", Justification = "Every failure goes into the task.")]
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        if (cancellationToken.IsCancellationRequested)
        {
            return Task.FromCanceled<int>(cancellationToken);
        }

        try
        {
            int read = Read(buffer, offset, count);
            StreamCore core = _core;
            return core.LastRead is { } last && last.Result == read ? last : core.LastRead = Task.FromResult(read);
        }
        catch (Exception e)
        {
            return Task.FromException<int>(e);
        }
    }

    /// <inheritdoc/>
    /// <remarks>Allocates nothing.</remarks>
    [SuppressMessage("Design", "CA1031:Do not catch general exception types", Justification = "Every failure goes into the task.")]
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
    [SuppressMessage("Design", "CA1031:Do not catch general exception types", Justification = "Every failure goes into the task.")]
    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        if (cancellationToken.IsCancellationRequested)
        {
            return Task.FromCanceled(cancellationToken);
        }

        try
        {
            Write(buffer, offset, count);
            return Task.CompletedTask;
        }
        catch (Exception e)
        {
            return Task.FromException(e);
        }
    }

    /// <inheritdoc/>
    /// <remarks>Allocates nothing.</remarks>
    [SuppressMessage("Design", "CA1031:Do not catch general exception types", Justification = "Every failure goes into the task.")]
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
    [SuppressMessage("Design", "CA1031:Do not catch general exception types", Justification = "Every failure goes into the task.")]
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

    /// <inheritdoc/>
    /// <remarks>Runs on the thread pool, as with <see cref="MemoryStream"/>.</remarks>
    public override IAsyncResult BeginRead(byte[] buffer, int offset, int count, AsyncCallback? callback, object? state) =>
        base.BeginRead(buffer, offset, count, callback, state);

    /// <inheritdoc/>
    public override int EndRead(IAsyncResult asyncResult) => base.EndRead(asyncResult);

    /// <inheritdoc/>
    /// <remarks>Runs on the thread pool, as with <see cref="MemoryStream"/>.</remarks>
    public override IAsyncResult BeginWrite(byte[] buffer, int offset, int count, AsyncCallback? callback, object? state) =>
        base.BeginWrite(buffer, offset, count, callback, state);

    /// <inheritdoc/>
    public override void EndWrite(IAsyncResult asyncResult) => base.EndWrite(asyncResult);

    /// <summary>Of no use; <see cref="Stream"/> has it.</summary>
    [Obsolete("CreateWaitHandle has been deprecated. Use the ManualResetEvent(false) constructor instead.")]
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected override WaitHandle CreateWaitHandle() => base.CreateWaitHandle();

    /// <summary>Of no use; <see cref="Stream"/> has it.</summary>
    [Obsolete("Do not call or override this method.")]
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected override void ObjectInvariant()
    {
    }
}
