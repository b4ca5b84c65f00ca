using System.Data.Common;

namespace Tidepool.Data;

/// <summary>A database of which nothing is known.</summary>
internal sealed class GenericAdapter : DbAdapter
{
    public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) =>
        session.WasLent ? ProbeAsync(connection, cancellationToken) : new(true);

    public override bool Reset(DbConnection connection, DbSessionInfo session)
    {
        if (session.WasLent)
        {
            connection.BeginTransaction().Dispose();
        }

        return true;
    }

    /// <summary>Who had the provider's connection may have left a transaction open: then another one is refused, which ends the session.</summary>
    private static async ValueTask<bool> ProbeAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        DbTransaction transaction = await connection.BeginTransactionAsync(cancellationToken).ConfigureAwait(false);
        await transaction.DisposeAsync().ConfigureAwait(false);
        return true;
    }
}
