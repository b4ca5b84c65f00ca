using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;
using System.Transactions;

namespace Tidepool.Data;

/// <summary>How sessions are opened, reset, asked and closed.</summary>
internal sealed class DbSessionPolicy(DbDataSource inner, DbAdapter adapter, bool hasPrepared) : ResourcePolicy<DbSession>
{
    private const int LookDue = 0;
    private const int LookClaimed = 1;
    private const int LookDone = 2;

    /// <summary>Seconds that every provider can count in milliseconds.</summary>
    private const int LongestStatement = 1_000_000;

    private readonly RoleRenewals _renewals = new();
    private int _look;

    internal DbAdapter Adapter => adapter;

    /// <summary>The pool that this policy is for.</summary>
    internal ResourceCore<DbSession>? Core { get; set; }

    /// <summary>The generation of what the pool creates now.</summary>
    private int Generation => Core?.Generation ?? 0;

    /// <summary>Whether a session is reset before it has another renter.</summary>
    internal bool Resets { get; init; }

    /// <summary>Whether a reset may travel with the first statement of the next renter.</summary>
    internal bool ResetsLater { get; init; }

    /// <summary>Whether the first session is asked whether a pooler stands between.</summary>
    internal bool LooksForPooler { get; init; }

    /// <summary>
    /// How many seconds a statement of the pool's own may take, 0 without limit. A provider that is told to give up by a token may go on to
    /// read, and a caller that blocks has none.
    /// </summary>
    internal int StatementLimit { get; init; }

    /// <summary>What the program makes of each new session, or null.</summary>
    internal SessionInitializer? Initializer { get; init; }

    internal override PolicyTraits Traits => base.Traits with
    {
        Resets = adapter.HasReset,
        WaitsInReset = adapter.WaitsInReset,
        ResetsLater = ResetsLater,
    };

    /// <summary>A second more than an operation of the policy may take: the pool's own token comes first.</summary>
    internal static int LimitOf(TimeSpan policyTimeout) =>
        policyTimeout == Timeout.InfiniteTimeSpan ? 0 : 1 + (int)Math.Min(Math.Ceiling(policyTimeout.TotalSeconds), LongestStatement);

    public override ValueTask<DbSession> CreateAsync(CancellationToken cancellationToken) => CreateAsync(isAsync: true, cancellationToken);

    public override DbSession Create(CancellationToken cancellationToken) =>
        CreateAsync(isAsync: false, cancellationToken).EnsureCompleted();

    public override bool IsPermanent(Exception failure)
    {
        using DbConnection native = inner.CreateConnection();
        return adapter.Classify(failure, native) == DbErrorKind.Credentials;
    }

    /// <summary>The first question after a session was lent is that of its return, under no lock.</summary>
    public override bool IsBroken(DbSession resource) =>
        (resource.IsLent && HasOldTypes(resource)) || resource.IsBroken || resource.Native.State != ConnectionState.Open
        || adapter.HasEnded(resource.Remembered);

    public override ValueTask<bool> ValidateAsync(DbSession resource, CancellationToken cancellationToken) =>
        ValidateAsync(isAsync: true, resource, cancellationToken);

    public override bool? Validate(DbSession resource) =>
        ValidateAsync(isAsync: false, resource, CancellationToken.None).EnsureCompleted();

    public override ValueTask<bool> ResetAsync(DbSession resource, CancellationToken cancellationToken) =>
        ResetAsync(isAsync: true, resource, cancellationToken);

    public override bool? Reset(DbSession resource) =>
        adapter.ResetsInline ? ResetAsync(isAsync: false, resource, CancellationToken.None).EnsureCompleted() : null;

    internal override bool HasResetPending(DbSession resource) => resource.HasResetPending;

    public override async ValueTask KeepAliveAsync(DbSession resource, CancellationToken cancellationToken)
    {
        if (!await ValidateAsync(resource, cancellationToken).ConfigureAwait(false))
        {
            throw new InvalidOperationException("The session does not live any more.");
        }
    }

    public override ValueTask DestroyAsync(DbSession resource, DestroyReason reason) => resource.Native.DisposeAsync();

    /// <summary>
    /// Records an error that its caller will see: ends the session, or all sessions of its time, when the error says so. Never throws.
    /// </summary>
    /// <param name="session">The session it happened on.</param>
    /// <param name="error">The error.</param>
    /// <param name="isLast">Nothing will be asked of the session any more.</param>
    /// <returns>False, so that it can stand in a filter.</returns>
    [SuppressMessage(
        "Design", "CA1031",
        Justification = "A filter that throws would be taken for one that says no; the adapter may be anybody's.")]
    internal bool Note(DbSession session, Exception error, bool isLast = false)
    {
        try
        {
            session.Leave(adapter.LeftByError);
            switch (adapter.Classify(error, session.Native))
            {
                case DbErrorKind.Statement:
                    break;
                case DbErrorKind.ReadOnlyServer when Resets && !isLast:
                    session.IsRoleDoubted = true;
                    break;
                case DbErrorKind.ReadOnlyServer when !isLast && !IsToBeRenewed(session, writes: false):
                    break;
                case DbErrorKind.ReadOnlyServer:
                    session.Break();
                    _ = isLast && IsToBeRenewed(session, writes: false);
                    break;
                case DbErrorKind.Server:
                    session.Break();
                    if (!session.IsGivenUp)
                    {
                        ClearOnce(session);
                    }

                    break;
                default:
                    session.Break();
                    break;
            }
        }
        catch (Exception e)
        {
            session.Break();
            TidepoolEventSource.Log.PolicyFailed("Classify", e, Core?.Name ?? string.Empty, string.Empty);
        }

        return false;
    }

    /// <summary>
    /// Opens a session. A renter that blocks does it on its own thread, without its ambient transaction: the provider would take part in
    /// it with what others rent later. Setting <see cref="Transaction.Current"/> instead would take the transaction out of the renter's
    /// asynchronous flow and leave it on the thread.
    /// </summary>
    private async ValueTask<DbSession> CreateAsync(bool isAsync, CancellationToken cancellationToken)
    {
        int generation = Generation;
        DbConnection native = inner.CreateConnection();
        try
        {
            using TransactionScope? outside =
                isAsync ? null : new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);
            if (isAsync)
            {
                await native.OpenAsync(cancellationToken).ConfigureAwait(false);
            }
            else
            {
                native.Open();
            }

            if (native.State != ConnectionState.Open)
            {
                throw new InvalidOperationException($"The provider has opened a connection that is not open ({native.State}).");
            }

            await LookForPoolerAsync(isAsync, native, cancellationToken).ConfigureAwait(false);
            return await MakeReadyAsync(isAsync, native, generation, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            await CloseFailedAsync(isAsync, native).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Closes what became no session. Its failure would hide why.</summary>
    [SuppressMessage("Design", "CA1031", Justification = "The caller is told of the failure before it.")]
    private async ValueTask CloseFailedAsync(bool isAsync, DbConnection native)
    {
        try
        {
            await native.DisposeAsync(isAsync).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("Dispose", e, Core?.Name ?? string.Empty, string.Empty);
        }
    }

    private async ValueTask<bool> ValidateAsync(bool isAsync, DbSession session, CancellationToken cancellationToken)
    {
        try
        {
            bool isValid = await adapter.ValidateAsync(isAsync, session.Native, StatementLimit, cancellationToken).ConfigureAwait(false);
            session.HasResetPending = false; // the question has taken the reset along
            return isValid;
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
    }

    private async ValueTask<bool> ResetAsync(bool isAsync, DbSession session, CancellationToken cancellationToken)
    {
        try
        {
            session.HasResetPending = ResetsLater && !session.IsRoleDoubted && adapter.TryResetLater(session.Native);
            DbSessionInfo info = session.Info with { TimeLimit = StatementLimit };
            bool isReset = session.HasResetPending
                || (isAsync
                    ? await adapter.ResetAsync(session.Native, info, cancellationToken).ConfigureAwait(false)
                    : adapter.Reset(session.Native, info));
            if (!isReset)
            {
                return false;
            }

            if (session.IsRoleDoubted
                && IsToBeRenewed(session, await adapter.WritesAsync(isAsync, session.Native, cancellationToken).ConfigureAwait(false)))
            {
                return false;
            }

            session.Renew();
            return true;
        }
        catch (Exception e) when (Note(session, e))
        {
            throw;
        }
    }

    /// <summary>
    /// Whether the program has reloaded the provider's types since the session was made. The provider shows them to sessions that it
    /// opens, and ours stay open: so all of them are made anew.
    /// </summary>
    private bool HasOldTypes(DbSession session)
    {
        session.IsLent = false;
        if (ReferenceEquals(session.Types, adapter.TypesOf(inner)))
        {
            return false;
        }

        ClearOnce(session);
        return true;
    }

    /// <summary>
    /// Whether a session whose write was refused ends, and with it all of its time. It stays where renewing has not helped: readers use
    /// it.
    /// </summary>
    private bool IsToBeRenewed(DbSession session, bool writes)
    {
        if (writes)
        {
            _renewals.SeeWriter();
            return false;
        }

        if (session.IsGivenUp || !_renewals.TryRenew(session.Generation, Core?.Clock.Now ?? 0))
        {
            return session.IsGivenUp;
        }

        ClearOnce(session);
        return true;
    }

    private async ValueTask LookForPoolerAsync(bool isAsync, DbConnection native, CancellationToken cancellationToken)
    {
        if (ClaimsLook())
        {
            using var claim = new Look(this);
            ReportPooler(await adapter.FindPoolerAsync(isAsync, native, cancellationToken).ConfigureAwait(false));
        }
    }

    private bool ClaimsLook() => LooksForPooler && Interlocked.CompareExchange(ref _look, LookClaimed, LookDue) == LookDue;

    private void ReportPooler(string? pooler)
    {
        if (pooler is not null)
        {
            PoolDiagnostics.ReportPooler(Core?.Name ?? string.Empty, pooler, ProcessChecks.Logs ? Console.Error : null);
        }

        Volatile.Write(ref _look, LookDone);
    }

    /// <summary>
    /// Makes all sessions anew, unless that was done since this one's creation began: of many that report the same fault one clears.
    /// </summary>
    private void ClearOnce(DbSession session) => Core?.ClearOnce(session.Generation);

    /// <summary>
    /// A session as all will find it who rent it: initialized, then reset. Without resets it must at least be free of what no renter
    /// would expect.
    /// </summary>
    private async ValueTask<DbSession> MakeReadyAsync(
        bool isAsync, DbConnection native, int generation, CancellationToken cancellationToken)
    {
        if (Initializer is null)
        {
            return NewSession(
                native,
                generation,
                await adapter.RememberAsync(isAsync, native, isInitialized: false, cancellationToken).ConfigureAwait(false));
        }

        await Initializer.RunAsync(isAsync, native, cancellationToken).ConfigureAwait(false);
        DbSession session = NewSession(
            native, generation, await RememberInitializedAsync(Initializer, isAsync, native, cancellationToken).ConfigureAwait(false));
        bool isReset = true;
        try
        {
            if (!Resets)
            {
                await adapter.ProveIdleAsync(isAsync, native, cancellationToken).ConfigureAwait(false);
            }
            else
            {
                DbSessionInfo info = adapter.AfterInitialization(session.Info);
                isReset = isAsync ? await adapter.ResetAsync(native, info, cancellationToken).ConfigureAwait(false)
                    : adapter.ResetsInline ? adapter.Reset(native, info)
                    : ResetAndWait(native, info, cancellationToken);
            }
        }
        catch (Exception e) when (
            native.State == ConnectionState.Open && (e is not OperationCanceledException || !cancellationToken.IsCancellationRequested))
        {
            throw Resets ? Initializer.Unresettable(e) : Initializer.Busy(e);
        }

        return isReset ? session : throw Initializer.Unresettable(null);
    }

    /// <summary>What the adapter notes of a session; one that asks the server finds out what the program has left open.</summary>
    private async ValueTask<object?> RememberInitializedAsync(
        SessionInitializer initializer, bool isAsync, DbConnection native, CancellationToken cancellationToken)
    {
        try
        {
            return await adapter.RememberAsync(isAsync, native, isInitialized: true, cancellationToken).ConfigureAwait(false);
        }
        catch (InvalidOperationException e) when (native.State == ConnectionState.Open)
        {
            throw initializer.Busy(e);
        }
    }

    /// <summary>
    /// The provider has the asynchronous way only, and the session must be reset before a renter has it: this thread waits, as long as its
    /// renter does.
    /// </summary>
    private bool ResetAndWait(DbConnection native, DbSessionInfo info, CancellationToken cancellationToken) =>
        adapter.ResetAsync(native, info, cancellationToken).AsTask().WaitAsync(cancellationToken).GetAwaiter().GetResult();

    private DbSession NewSession(DbConnection native, int generation, object? remembered) =>
        new(native)
        {
            HasPrepared = hasPrepared || Initializer is not null,
            Remembered = remembered,
            Types = adapter.TypesOf(inner),
            Generation = generation,
        };

    /// <summary>The claim to look for a pooler; a session that fails over it leaves the question to the next one.</summary>
    private readonly struct Look(DbSessionPolicy policy) : IDisposable
    {
        public void Dispose() => Interlocked.CompareExchange(ref policy._look, LookDue, LookClaimed);
    }
}
