using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// A reader of a pooled connection. It reaches the provider's reader until its connection gives the session back, and where the provider
/// uses such objects again only until it is closed: the provider's is disposed then, and an old reference reaches nothing.
/// </summary>
/// <remarks>
/// What may wait for the server holds the session. The values of a row that is in memory do not: see
/// <see cref="PooledDbUnbufferedReader"/> for all other rows.
/// </remarks>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
internal partial class PooledDbDataReader : DbDataReader
{
    private readonly PooledDbConnection _connection;
    private readonly DbSession _session;
    private readonly DbAdapter _adapter;
    private readonly bool _closesConnection;
    private DbDataReader? _native;
    private bool _isClosed;
    private bool _isDisposed;
    private int _recordsAffected = -1;

    internal PooledDbDataReader(
        PooledDbConnection connection, DbSession session, DbDataReader native, DbAdapter adapter, bool closesConnection)
    {
        _connection = connection;
        _session = session;
        _native = native;
        _adapter = adapter;
        _closesConnection = closesConnection;
        connection.Add(this);
    }

    public override bool IsClosed => _isClosed || _native is null || _native.IsClosed;

    public override int RecordsAffected => _native?.RecordsAffected ?? _recordsAffected;

    /// <summary>Whether what it has given out may still reach the provider's reader.</summary>
    internal bool IsReachable => _native is not null && _connection.Has(_session);

    /// <summary>The next reader of the connection.</summary>
    internal PooledDbDataReader? Next { get; set; }

    private DbDataReader Native => _native ?? throw Ended();

    public override bool Read() => Advance(toNextResult: false);

    public override bool NextResult() => Advance(toNextResult: true);

    public override Task<bool> ReadAsync(CancellationToken cancellationToken) =>
        Watch(static (native, cancellation) => native.ReadAsync(cancellation), cancellationToken);

    public override Task<bool> NextResultAsync(CancellationToken cancellationToken) =>
        Watch(static (native, cancellation) => native.NextResultAsync(cancellation), cancellationToken);

    public override void Close()
    {
        if (!TryBeginClose(out DbSession? session))
        {
            return;
        }

        try
        {
            if (_adapter.RecyclesObjects)
            {
                _native?.Dispose();
            }
            else
            {
                _native?.Close();
            }
        }
        catch (Exception e) when (_connection.Note(session, e))
        {
            throw;
        }
        finally
        {
            Cut(isOwn: true);
            _connection.Exit(session);
            if (_closesConnection)
            {
                _connection.Close();
            }
        }
    }

    public override async Task CloseAsync()
    {
        if (!TryBeginClose(out DbSession? session))
        {
            return;
        }

        try
        {
            if (_native is { } native && _adapter.RecyclesObjects)
            {
                await native.DisposeAsync().ConfigureAwait(false);
            }
            else if (_native is { } kept)
            {
                await kept.CloseAsync().ConfigureAwait(false);
            }
        }
        catch (Exception e) when (_connection.Note(session, e))
        {
            throw;
        }
        finally
        {
            Cut(isOwn: true);
            _connection.Exit(session);
            if (_closesConnection)
            {
                await _connection.CloseAsync().ConfigureAwait(false);
            }
        }
    }

    public override async ValueTask DisposeAsync()
    {
        if (_isDisposed)
        {
            return;
        }

        _isDisposed = true;
        bool hasEnded = _closesConnection && !_isClosed;
        try
        {
            await CloseAsync().ConfigureAwait(false);
        }
        finally
        {
            if (!hasEnded && !_adapter.RecyclesObjects)
            {
                await _native!.DisposeAsync().ConfigureAwait(false);
            }
        }
    }

    protected override void Dispose(bool disposing)
    {
        if (!disposing || _isDisposed)
        {
            return;
        }

        _isDisposed = true;
        bool hasEnded = _closesConnection && !_isClosed;
        try
        {
            Close();
        }
        finally
        {
            if (!hasEnded && !_adapter.RecyclesObjects)
            {
                _native!.Dispose();
            }
        }
    }

    /// <summary>The connection gives its session back.</summary>
    [SuppressMessage(
        "Design", "CA1031",
        Justification = "A session whose reader cannot be closed is closed itself; closing the connection does not throw for it.")]
    internal async ValueTask EndWithSessionAsync(bool isAsync, bool isBusy)
    {
        _isClosed = true;
        try
        {
            if (!isBusy && _native is not null)
            {
                await _native.DisposeAsync(isAsync).ConfigureAwait(false);
            }
        }
        catch (Exception e)
        {
            _session.Break();
            _connection.Note(_session, e);
        }

        Cut(isOwn: true);
    }

    /// <summary>Begins a read of what it has given out, if that still reaches the provider's reader.</summary>
    /// <returns>The session, for <see cref="Exit"/>; null where it reaches nothing.</returns>
    internal DbSession? TryEnter()
    {
        DbSession? session = EnterOwn();
        if (_native is not null)
        {
            return session;
        }

        _connection.Exit(session);
        return null;
    }

    internal void Exit(DbSession session) => _connection.Exit(session);

    /// <summary>
    /// An operation that may wait for the server on the calling thread: it holds the session. What it needs comes as its argument, so
    /// that nothing is allocated.
    /// </summary>
    private protected T Hold<T, TArgument>(Func<DbDataReader, TArgument, T> read, TArgument argument)
    {
        DbDataReader native = Begin(out DbSession? session);
        try
        {
            return read(native, argument);
        }
        catch (Exception e) when (_connection.Note(session, e))
        {
            throw;
        }
        finally
        {
            _connection.Exit(session);
        }
    }

    private Exception Ended() => _isDisposed ? _adapter.DisposedReader() : _adapter.ClosedReader();

    /// <summary>Whether there is something to close: the reader is open, and its session is the connection's.</summary>
    private bool TryBeginClose([NotNullWhen(true)] out DbSession? session)
    {
        session = null;
        if (_isClosed)
        {
            return false;
        }

        _isClosed = true;
        _connection.Remove(this);
        session = EnterOwn();
        if (session is null)
        {
            Cut(isOwn: false);
        }

        return session is not null;
    }

    /// <summary>
    /// Detaches a provider's reader that is used again, and keeps what it reports of itself as long as no other use begins.
    /// </summary>
    private void Cut(bool isOwn)
    {
        if (_native is { } native && _adapter.RecyclesObjects)
        {
            _recordsAffected = isOwn ? native.RecordsAffected : _recordsAffected;
            _native = null;
        }
    }

    private DbDataReader Begin(out DbSession? session)
    {
        session = EnterOwn();
        if (_native is { } native && (session is not null || !_adapter.RecyclesObjects))
        {
            return native;
        }

        _connection.Exit(session);
        throw Ended();
    }

    /// <summary>Begins an operation, if the connection has still the session that is read from.</summary>
    private DbSession? EnterOwn()
    {
        DbSession? session = _connection.Enter();
        if (ReferenceEquals(session, _session))
        {
            return session;
        }

        _connection.Exit(session);
        return null;
    }

    private bool Advance(bool toNextResult)
    {
        DbDataReader native = Begin(out DbSession? session);
        try
        {
            return toNextResult ? native.NextResult() : native.Read();
        }
        catch (Exception e) when (_connection.Note(session, e))
        {
            throw;
        }
        finally
        {
            _connection.Exit(session);
        }
    }

    /// <summary>
    /// An operation that may read from the server. What it needs comes as its argument, so that nothing is allocated where it ends at
    /// once.
    /// </summary>
    private Task<T> Watch<T, TArgument>(Func<DbDataReader, TArgument, Task<T>> read, TArgument argument)
    {
        DbDataReader native = Begin(out DbSession? session);
        try
        {
            Task<T> value = read(native, argument);
            if (!value.IsCompletedSuccessfully)
            {
                value = Finish(session, value);
                session = null;
            }

            return value;
        }
        catch (Exception e) when (_connection.Note(session, e))
        {
            throw;
        }
        finally
        {
            _connection.Exit(session);
        }
    }

    private async Task<T> Finish<T>(DbSession? session, Task<T> task)
    {
        try
        {
            return await task.ConfigureAwait(false);
        }
        catch (Exception e) when (_connection.Note(session, e))
        {
            throw;
        }
        finally
        {
            _connection.Exit(session);
        }
    }
}
