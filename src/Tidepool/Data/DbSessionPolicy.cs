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

    internal override PolicyTraits Traits => base.Traits with { Resets = adapter.HasReset, WaitsInReset = adapter.WaitsInReset };

    public override async ValueTask<DbSession> CreateAsync(CancellationToken cancellationToken)
    {
        DbConnection native = inner.CreateConnection();
        try
        {
            await native.OpenAsync(cancellationToken).ConfigureAwait(false);
            return NewSession(native);
        }
        catch
        {
            await native.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public override DbSession Create(CancellationToken cancellationToken)
    {
        DbConnection native = inner.CreateConnection();
        try
        {
            native.Open();
            return NewSession(native);
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
            bool isReset = await adapter.ResetAsync(resource.Native, resource.Info, cancellationToken).ConfigureAwait(false);
            resource.WasLent = false;
            return isReset;
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
            bool isReset = adapter.Reset(resource.Native, resource.Info);
            resource.WasLent = false;
            return isReset;
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
    /// <returns>False, so that it can stand in a filter.</returns>
    [SuppressMessage("Design", "CA1031", Justification = "A filter that throws would be taken for one that says no; the adapter may be anybody's.")]
    internal bool Note(DbSession session, Exception error)
    {
        try
        {
            switch (adapter.Classify(error, session.Native))
            {
                case DbErrorKind.Statement:
                    break;
                case DbErrorKind.Server:
                case DbErrorKind.Role:
                    session.Break();
                    if (!session.IsGivenUp && session.Slot is { } slot)
                    {
                        Core?.ClearOnce(slot);
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

    private DbSession NewSession(DbConnection native) => new(native) { HasPrepared = hasPrepared, Remembered = adapter.Remember(native) };
}
