using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>How sessions are opened, reset, asked and closed.</summary>
internal sealed class DbSessionPolicy(DbDataSource inner, DbAdapter adapter, bool hasPrepared) : ResourcePolicy<DbSession>
{
    internal DbAdapter Adapter => adapter;

    /// <summary>The pool that this policy is for.</summary>
    internal ResourceCore<DbSession>? Core { get; set; }

    /// <summary>The generation of what the pool creates now.</summary>
    private int Generation => Core?.Generation ?? 0;

    /// <summary>Whether a session is reset before it has another renter.</summary>
    internal bool Resets { get; init; }

    /// <summary>What the program does with each new session.</summary>
    internal Action<DbConnection>? Initialize { get; init; }

    /// <summary>The same for callers that await.</summary>
    internal Func<DbConnection, CancellationToken, Task>? InitializeAsync { get; init; }

    internal override PolicyTraits Traits => base.Traits with { Resets = adapter.HasReset, WaitsInReset = adapter.WaitsInReset };

    public override async ValueTask<DbSession> CreateAsync(CancellationToken cancellationToken)
    {
        int generation = Generation;
        DbConnection native = inner.CreateConnection();
        try
        {
            await native.OpenAsync(cancellationToken).ConfigureAwait(false);
            if (Initialize is null)
            {
                return NewSession(native, generation, adapter.Remember(native));
            }

            if (InitializeAsync is { } initialize)
            {
                await initialize(native, cancellationToken).ConfigureAwait(false);
            }
            else
            {
                Initialize(native);
            }

            DbSession session = NewInitialized(native, generation);
            bool isReset = !Resets || await adapter.ResetAsync(native, session.Info, cancellationToken).ConfigureAwait(false);
            return Renew(session, isReset);
        }
        catch
        {
            await native.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public override DbSession Create(CancellationToken cancellationToken)
    {
        int generation = Generation;
        DbConnection native = inner.CreateConnection();
        try
        {
            native.Open();
            if (Initialize is null)
            {
                return NewSession(native, generation, adapter.Remember(native));
            }

            Initialize(native);
            DbSession session = NewInitialized(native, generation);
            return Renew(session, !Resets || adapter.Reset(native, session.Info));
        }
        catch
        {
            native.Dispose();
            throw;
        }
    }

    public override bool IsLasting(Exception failure)
    {
        using DbConnection native = inner.CreateConnection();
        return adapter.Classify(failure, native) == DbErrorKind.Credentials;
    }

    public override bool IsBroken(DbSession resource) => resource.IsBroken || resource.Native.State != ConnectionState.Open;

    public override async ValueTask<bool> ValidateAsync(DbSession resource, CancellationToken cancellationToken)
    {
        try
        {
            return await adapter.ValidateAsync(resource.Native, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (Note(resource, e))
        {
            throw;
        }
    }

    public override bool? Validate(DbSession resource)
    {
        try
        {
            return adapter.Validate(resource.Native);
        }
        catch (Exception e) when (Note(resource, e))
        {
            throw;
        }
    }

    public override async ValueTask<bool> ResetAsync(DbSession resource, CancellationToken cancellationToken)
    {
        try
        {
            if (!await adapter.ResetAsync(resource.Native, resource.Info, cancellationToken).ConfigureAwait(false))
            {
                return false;
            }

            if (resource.IsRoleDoubted && !await adapter.WritesAsync(resource.Native, cancellationToken).ConfigureAwait(false))
            {
                ClearOnce(resource);
                return false;
            }

            resource.Renew();
            return true;
        }
        catch (Exception e) when (Note(resource, e))
        {
            throw;
        }
    }

    public override bool? Reset(DbSession resource)
    {
        try
        {
            if (!adapter.Reset(resource.Native, resource.Info))
            {
                return false;
            }

            if (resource.IsRoleDoubted && !adapter.Writes(resource.Native))
            {
                ClearOnce(resource);
                return false;
            }

            resource.Renew();
            return true;
        }
        catch (Exception e) when (Note(resource, e))
        {
            throw;
        }
    }

    public override async ValueTask KeepAliveAsync(DbSession resource, CancellationToken cancellationToken)
    {
        if (!await ValidateAsync(resource, cancellationToken).ConfigureAwait(false))
        {
            throw new InvalidOperationException("The session does not live any more.");
        }
    }

    public override ValueTask DestroyAsync(DbSession resource, DestroyReason reason) => resource.Native.DisposeAsync();

    /// <summary>
    /// Takes note of an error that passes on to whoever called: ends the session, or all sessions of its time, when the error says so. Never throws.
    /// </summary>
    /// <param name="session">The session it happened on.</param>
    /// <param name="error">The error.</param>
    /// <param name="isLast">Nothing will be asked of the session any more.</param>
    /// <returns>False, so that it can stand in a filter.</returns>
    [SuppressMessage("Design", "CA1031", Justification = "A filter that throws would be taken for one that says no; the adapter may be anybody's.")]
    internal bool Note(DbSession session, Exception error, bool isLast = false)
    {
        try
        {
            session.Leave(adapter.LeftByError);
            switch (adapter.Classify(error, session.Native))
            {
                case DbErrorKind.Statement:
                    break;
                case DbErrorKind.Role when Resets && !isLast:
                    session.IsRoleDoubted = true;
                    break;
                case DbErrorKind.Server:
                case DbErrorKind.Role:
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
            TidepoolEventSource.Log.PolicyFailed("Classify", e.ToString(), Core?.Name ?? string.Empty);
        }

        return false;
    }

    /// <summary>Makes all sessions anew, unless that was done since this one's creation began: of many that report the same fault one clears.</summary>
    private void ClearOnce(DbSession session) => Core?.ClearOnce(session.Generation);

    private DbSession NewSession(DbConnection native, int generation, object? remembered) =>
        new(native) { HasPrepared = hasPrepared || Initialize is not null, Remembered = remembered, Generation = generation };

    /// <summary>A session with what the program has made of it, of which nothing is known but that it is open.</summary>
    private DbSession NewInitialized(DbConnection native, int generation)
    {
        if (native.State != ConnectionState.Open)
        {
            throw new InvalidOperationException($"{nameof(PooledDbOptions)}.{nameof(PooledDbOptions.InitializeSession)} has closed the connection ({native.State}).");
        }

        DbSession session = NewSession(native, generation, adapter.RememberInitialized(native));
        session.Leave(SessionTraces.Objects);
        return session;
    }

    private static DbSession Renew(DbSession session, bool isReset)
    {
        if (!isReset)
        {
            throw new InvalidOperationException(
                $"{nameof(PooledDbOptions)}.{nameof(PooledDbOptions.InitializeSession)} has left what a reset cannot undo, so that each session would serve one caller only.");
        }

        session.Renew();
        return session;
    }
}
