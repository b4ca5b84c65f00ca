using System.Data.Common;

namespace Tidepool.Data;

/// <summary>
/// A database of which nothing is known. A renter of the provider's connection may have left a transaction open: then another one is
/// refused, which ends the session.
/// </summary>
internal sealed class GenericAdapter : DbAdapter
{
    public override async ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken)
    {
        if (session.WasLent)
        {
            await ProveIdleAsync(isAsync: true, connection, cancellationToken).ConfigureAwait(false);
        }

        return true;
    }

    public override bool Reset(DbConnection connection, DbSessionInfo session)
    {
        if (session.WasLent)
        {
            ProveIdleAsync(isAsync: false, connection, CancellationToken.None).EnsureCompleted();
        }

        return true;
    }
}
