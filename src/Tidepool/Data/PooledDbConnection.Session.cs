using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <content>
/// The session of a connection: how an operation gets hold of it. An operation counts itself and then reads the session; a close takes the
/// session away and then reads the count. So one of the two sees the other, and a session that is still in use is closed instead of being
/// used again.
/// </content>
public sealed partial class PooledDbConnection
{
    /// <summary>Begins an operation.</summary>
    /// <returns>The session, for <see cref="Exit"/>; null when the connection is closed.</returns>
    internal DbSession? Enter()
    {
        Interlocked.Increment(ref _running);
        DbSession? session = _session;
        if (session is null)
        {
            Interlocked.Decrement(ref _running);
        }

        return session;
    }

    /// <summary>Ends an operation.</summary>
    internal void Exit(DbSession? session)
    {
        if (session is null)
        {
            return;
        }

        Interlocked.Decrement(ref _running);
        if (session.Native.State != ConnectionState.Open)
        {
            Announce(session);
        }
    }

    /// <summary>An error passes. For filters: says no.</summary>
    internal bool Note(DbSession? session, Exception error)
    {
        if (session is not null)
        {
            _source.Policy.Note(session, error);
        }

        return false;
    }

    /// <summary>Whether the session is still the one of this connection.</summary>
    internal bool Has(DbSession session) => ReferenceEquals(_session, session);

    internal void Add(PooledDbDataReader reader)
    {
        reader.Next = _readers;
        _readers = reader;
    }

    internal void Remove(PooledDbDataReader reader)
    {
        if (ReferenceEquals(_readers, reader))
        {
            _readers = reader.Next;
            return;
        }

        for (PooledDbDataReader? r = _readers; r is not null; r = r.Next)
        {
            if (ReferenceEquals(r.Next, reader))
            {
                r.Next = reader.Next;
                return;
            }
        }
    }

    /// <summary>Lists what reads a column from the session by itself, to end it with the use of the session.</summary>
    internal void Add(IDisposable column) => (_columns ??= []).Add(column);

    internal void Remove(IDisposable column) => _columns?.Remove(column);

    /// <summary>Lists a command whose provider's connection lists it too, to end it with the use of the session.</summary>
    internal void Add(PooledDbCommand command) => _commands.Add(command);

    /// <summary>Takes a command out, unless a close on another thread has just ended it.</summary>
    internal void Remove(PooledDbCommand command)
    {
        if (_commands.Contains(command))
        {
            _commands.Remove(command);
        }
    }

    private PooledDbTransaction Begun(DbSession? session, DbTransaction native)
    {
        PooledDbTransaction? open = null;
        for (PooledDbTransaction? before = _transaction; before is not null;)
        {
            PooledDbTransaction? next = before.Before;
            before.Before = null;
            if (before.IsOpen && !ReferenceEquals(before.NativeOrNull, native))
            {
                (before.Before, open) = (open, before);
            }
            else
            {
                before.Cut(); // over, or its object is used again, and so it is over on the server
            }

            before = next;
        }

        return _transaction = new PooledDbTransaction(this, session, native, _source.Adapter) { Before = open };
    }

    private async ValueTask<DbTransaction> BeginAsync(bool isAsync, IsolationLevel isolationLevel, CancellationToken cancellationToken)
    {
        DbSession? session = Enter();
        try
        {
            DbConnection native = session?.Native ?? ClosedConnection;
            return Begun(
                session,
                isAsync
                    ? await native.BeginTransactionAsync(isolationLevel, cancellationToken).ConfigureAwait(false)
                    : native.BeginTransaction(isolationLevel));
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            Exit(session);
        }
    }

    private DataTable Read(Func<DbConnection, DataTable> read) =>
        new ValueTask<DataTable>(ReadAsync(native => Task.FromResult(read(native)))).EnsureCompleted();

    private async Task<DataTable> ReadAsync(Func<DbConnection, Task<DataTable>> read)
    {
        DbSession? session = Enter();
        try
        {
            return await read(session?.Native ?? ClosedConnection).ConfigureAwait(false);
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
        finally
        {
            Exit(session);
        }
    }

    /// <summary>
    /// Whether there is nothing to open. An open one says what the provider says, and so does one that the provider calls broken; the
    /// session of one that it has closed is given back first.
    /// </summary>
    private bool IsOpenAlready()
    {
        if (_session is not { } session)
        {
            return false;
        }

        if (session.Native.State is not (ConnectionState.Open or ConnectionState.Broken))
        {
            Close();
            return false;
        }

        session.Native.Open();
        return true;
    }

    private void BeginOpening()
    {
        if (_isDisposed && !_source.Adapter.ReopensAfterDispose)
        {
            ClosedConnection.Open(); // throws what the provider throws
            ClosedConnection.Close();
            throw new ObjectDisposedException(nameof(PooledDbConnection));
        }

        _source.RefuseAmbient();
        if (Volatile.Read(ref _isClosing) != 0)
        {
            throw new InvalidOperationException("The connection is still being closed: await its closing before it is opened.");
        }

        if (Interlocked.Exchange(ref _isOpening, 1) != 0)
        {
            throw new InvalidOperationException("The connection is being opened already.");
        }

        _isDisposed = false;
    }

    private void EndOpening(ResourceLease<DbSession> lease)
    {
        DbSession session = lease.Value;
        _hasNotifiedClosed = _hasNotifiedBroken = false;
        _lease = lease;
        Volatile.Write(ref _isOpening, 0);
        Interlocked.Exchange(ref _session, session); // with a full fence: a disposal writes its flag and then reads the session
        if (_isDisposed)
        {
            Close();
            throw new ObjectDisposedException(nameof(PooledDbConnection), "The connection was disposed while it was being opened.");
        }

        OnStateChange(_source.Adapter.AnnouncesConnecting ? Connected : Opened);
    }

    /// <summary>Tells listeners that a session is being rented, where the provider tells that it connects.</summary>
    private void AnnounceOpening()
    {
        if (_source.Adapter.AnnouncesConnecting)
        {
            OnStateChange(Connecting);
        }
    }

    private void FailOpening()
    {
        Volatile.Write(ref _isOpening, 0);
        if (_source.Adapter.AnnouncesConnecting)
        {
            OnStateChange(NotConnected);
        }
    }

    /// <summary>
    /// The provider has closed the connection, over an error that it may have kept to itself: those who listen learn of it as from the
    /// provider.
    /// </summary>
    private void Announce(DbSession session)
    {
        if (!_hasNotifiedClosed && Has(session))
        {
            _hasNotifiedClosed = true;
            _hasNotifiedBroken = session.Native.State == ConnectionState.Broken;
            OnStateChange(_hasNotifiedBroken ? Broken : Closed);
        }
    }
}
