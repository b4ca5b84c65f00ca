using System.Data;
using System.Data.Common;
using System.Runtime.ExceptionServices;
using System.Transactions;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Data;

/// <summary>
/// The session of one context: rented when Entity Framework opens its connection, returned when it closes it. In between the context has
/// the session's own connection of the provider, at all other times a closed one that stands for it.
/// </summary>
/// <remarks>
/// For one thread at a time, as the context. Entity Framework tells what happens through <see cref="ContextSession">the other part</see>
/// of this class; where it tells nothing (a context that is disposed or goes back to its pool while its connection is open), the container
/// of the context does.
/// </remarks>
internal sealed partial class ContextSession : IResettableService, IDisposable, IAsyncDisposable
{
    private readonly IServiceProvider _services;
    private readonly SessionPreparation _preparation;
    private readonly PooledDbDataSource _source;
    private readonly bool _followsStatements;

    private IRelationalConnection? _relational;
    private SessionEnd? _end;

    /// <summary>A connection of the provider that is closed, unless work outside of the pool opens it.</summary>
    private DbConnection? _closed;
    private string? _closedText;
    private bool _isClosedPrepared;

    /// <summary>The connection that the context was given last; it may be over already.</summary>
    private DbConnection? _native;
    private DbSession? _session;
    private ResourceLease<DbSession> _lease;
    private Transaction? _enlisted;

    /// <summary>Statements under way, with those whose reader is open.</summary>
    private readonly List<Guid> _running = [];
    private bool _hasExecuted;

    /// <summary>How many pieces of work outside of the pool are under way, one inside the other.</summary>
    private int _unpooled;

    public ContextSession(IServiceProvider services, IDbContextOptions options, SessionPreparation preparation)
    {
        SessionOptionsExtension.Check(options); // the provider may have been given a connection later
        _services = services;
        _preparation = preparation;
        _source = options.FindExtension<SessionOptionsExtension>()!.Source;
        _followsStatements = _source.Adapter.EndsLentSessions;
    }

    /// <summary>Found when it is needed first: it is made with its interceptors, of which this is one.</summary>
    private IRelationalConnection Relational => _relational ??= _services.GetRequiredService<IRelationalConnection>();

    /// <summary>Lets Entity Framework open the connection by itself, outside of the pool, until the end of the scope.</summary>
    internal UnpooledScope WorkUnpooled()
    {
        _ = Relational.DbConnection; // without one there is no connection string yet, by which the provider looks for the database
        _unpooled++;
        return new UnpooledScope(this);
    }

    /// <summary>Refuses to change a database in memory that each connection has for itself: nothing of it would reach the pool.</summary>
    internal void CheckIsShared()
    {
        var text = new DbConnectionStringBuilder { ConnectionString = _source.Text.Unpooled };
        bool isInMemory = Is("Data Source", ":memory:") || Is("Mode", "Memory");
        if (isInMemory && !Is("Cache", "Shared"))
        {
            throw new InvalidOperationException(
                $"The database of pool '{_source.Name}' is in memory, and each of its connections has one of its own: what is made over "
                    + "one, no session would find. Use 'Data Source=NAME;Mode=Memory;Cache=Shared', and keep a connection to it open, "
                    + "with which the database lives.");
        }

        bool Is(string key, string value) =>
            text.TryGetValue(key, out object? given) && value.Equals($"{given}", StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>Changes the database outside of the pool; the pool's sessions from before and from meanwhile are not used again.</summary>
    internal void Change(Action work)
    {
        CheckIsShared();
        RenewSessions();
        try
        {
            using (WorkUnpooled())
            {
                work();
            }
        }
        finally
        {
            RenewSessions();
        }
    }

    /// <inheritdoc cref="Change"/>
    internal async Task ChangeAsync(Func<Task> work)
    {
        CheckIsShared();
        await RenewSessionsAsync().ConfigureAwait(false);
        try
        {
            using (WorkUnpooled())
            {
                await work().ConfigureAwait(false);
            }
        }
        finally
        {
            await RenewSessionsAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Ends the sessions of now. Idle ones are closed on return, so that a file may be deleted.</summary>
    internal void RenewSessions() => RenewSessionsAsync().GetAwaiter().GetResult();

    /// <inheritdoc cref="RenewSessions"/>
    internal Task RenewSessionsAsync() => _source.ClearAsync();

    /// <summary>The context goes back to its pool: it keeps no session there.</summary>
    public void ResetState() => EndUse();

    /// <inheritdoc cref="ResetState"/>
    public Task ResetStateAsync(CancellationToken cancellationToken = default) => EndUseAsync(isAsync: true).AsTask();

    /// <summary>The context ends, perhaps with an open connection.</summary>
    public void Dispose()
    {
        EndUse();
        _closed?.Dispose();
    }

    /// <inheritdoc cref="Dispose"/>
    public async ValueTask DisposeAsync()
    {
        await EndUseAsync(isAsync: true).ConfigureAwait(false);
        if (_closed is not null)
        {
            await _closed.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Gives the context the closed connection, which a swap does not dispose.</summary>
    private DbConnection Close()
    {
        if (_closed is null)
        {
            _closed = _source.Inner.CreateConnection();
            _closedText = _closed.ConnectionString;
            _closed.StateChange += RefuseOpening;
        }

        Swap(_closed);
        return _closed;
    }

    /// <summary>Swaps the connection of the context, which would forget its timeout.</summary>
    private void Swap(DbConnection connection)
    {
        int? timeout = Relational.CommandTimeout;
        Relational.SetDbConnection(connection, contextOwnsConnection: false);
        Relational.CommandTimeout = timeout;
    }

    private void RefuseOpening(object sender, StateChangeEventArgs change)
    {
        if (change.CurrentState == ConnectionState.Open && _unpooled == 0)
        {
            _closed!.Close();
            throw new InvalidOperationException(
                $"The connection of a context on pool '{_source.Name}' was opened by itself, which would be a session outside of the "
                    + "pool. Open it with context.Database.OpenConnection() or OpenConnectionAsync(), and take it then: "
                    + "context.Database.GetDbConnection().");
        }
    }

    /// <summary>Rents a session and gives its connection to the context.</summary>
    private async ValueTask BeginUseAsync(bool isAsync, CancellationToken cancellationToken)
    {
        _end ??= _services.GetRequiredService<SessionEnd>();
        ReturnSession(); // of a session that was closed in the middle, and whose end was not told
        Check();
        ResourceLease<DbSession> lease;
        try
        {
            lease = isAsync ? await _source.RentAsync(cancellationToken).ConfigureAwait(false) : _source.Rent();
        }
        catch (PooledDbException e) when (e.PoolError is ResourceCreateException { InnerException: DbException refusal })
        {
            // Strategies that try again, and the provider's own code, know the provider's exceptions.
            ExceptionDispatchInfo.Throw(refusal);
            throw;
        }

        _lease = lease;
        _session = lease.Value;
        _native = _session.Native;
        _running.Clear();
        _hasExecuted = false;
        try
        {
            Note(_session);
            if (_session.PreparedBy != _preparation)
            {
                SessionPreparation.Prepare(_services, Relational, _native);
                _session.PreparedBy = _preparation;
            }

            Swap(_native);
        }
        catch
        {
            _session.Break();
            ReturnSession();
            throw;
        }
    }

    /// <summary>
    /// What the reset has to assume: where it ends lent sessions, it follows the statements instead, and what a program may have done with
    /// the connection by itself as far as it can be found.
    /// </summary>
    private void Note(DbSession session)
    {
        if (_followsStatements)
        {
            session.Leave(SessionResidue.Objects);
        }
        else
        {
            session.Lend();
        }
    }

    private void Check()
    {
        if (_closed is not null && _closed.ConnectionString != _closedText)
        {
            throw new InvalidOperationException(
                $"The connection string of a context on pool '{_source.Name}' was changed. It belongs to the pool: make a "
                    + $"{nameof(PooledDbDataSource)} for each database, and options for each.");
        }

        if (Transaction.Current is not null && _source.Adapter.JoinsAmbientTransactions && !_source.Text.IgnoresAmbient)
        {
            throw new InvalidOperationException(
                $"Pool '{_source.Name}' gives no session to a context inside an ambient transaction: Entity Framework would enlist it, "
                    + "and a pooled session does not join one. Begin the transaction with context.Database.BeginTransaction(), leave the "
                    + "TransactionScope, or say Enlist=false in the connection string.");
        }
    }

    /// <summary>Opens outside of the pool: the closed connection is opened, ready as a session of the pool would be.</summary>
    private void BeginUnpooled()
    {
        ReturnSession();
        DbConnection closed = Close();
        if (!_isClosedPrepared)
        {
            SessionPreparation.Prepare(_services, Relational, closed);
            _isClosedPrepared = true;
        }
    }

    private void EndUse()
    {
        if (_session is null)
        {
            return;
        }

        try
        {
            Close();
        }
        finally
        {
            ReturnSession(); // also when a transaction cannot be rolled back: the pool looks at the session
        }
    }

    private async ValueTask EndUseAsync(bool isAsync)
    {
        if (_session is null)
        {
            return;
        }

        try
        {
            Close();
        }
        finally
        {
            if (TakeSession(out ResourceLease<DbSession> lease))
            {
                await lease.DisposeAsync(isAsync).ConfigureAwait(false);
            }
        }
    }

    private void ReturnSession()
    {
        if (TakeSession(out ResourceLease<DbSession> lease))
        {
            lease.Dispose();
        }
    }

    /// <summary>Takes the session from the context.</summary>
    /// <returns>Whether it is to be returned now: one that works for a distributed transaction is returned at the end of that.</returns>
    private bool TakeSession(out ResourceLease<DbSession> lease)
    {
        lease = _lease;
        if (_session is not { } session)
        {
            return false;
        }

        _session = null;
        _lease = default;
        if (_running.Count > 0)
        {
            session.GiveUp(); // a reader is open, or a statement under way on another thread
        }
        else if (_followsStatements && !_hasExecuted)
        {
            session.Lend(); // it was for the program's own use
        }

        return !ReturnsAfterTransaction(session, lease);
    }

    private bool ReturnsAfterTransaction(DbSession session, ResourceLease<DbSession> lease)
    {
        if (_enlisted is not { } transaction)
        {
            return false;
        }

        _enlisted = null;
        session.Break();
        if (transaction.TransactionInformation.Status != TransactionStatus.Active)
        {
            transaction.Dispose();
            return false;
        }

        transaction.TransactionCompleted += (_, _) =>
        {
            lease.Dispose();
            transaction.Dispose();
        };
        return true;
    }

    /// <summary>The provider has closed the connection over an error: Entity Framework does not close it once more.</summary>
    private void EndIfDead()
    {
        if (_session is { } session && session.Native.State != ConnectionState.Open)
        {
            ReturnSession();
        }
    }

    internal readonly struct UnpooledScope(ContextSession session) : IDisposable
    {
        public void Dispose() => session._unpooled--;
    }
}
