using System.Data.Common;

namespace Tidepool.Data;

/// <summary>A database of which nothing is known.</summary>
internal sealed class GenericAdapter : DbAdapter
{
    internal override bool HasReset => false;

    public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) => new(true);

    public override bool Reset(DbConnection connection, DbSessionInfo session) => true;
}
