using System.Data;
using System.Data.Common;

namespace Tidepool.Data;

/// <summary>What executes on a session: a command or a batch, each around the provider's.</summary>
internal interface IExecutable
{
    /// <summary>Its connection, and what it has under way.</summary>
    ref Execution Execution { get; }

    /// <summary>Where the provider's object points.</summary>
    DbConnection? NativeConnection { get; set; }

    DbTransaction? NativeTransaction { get; set; }

    /// <summary>What its text may leave on a session.</summary>
    SessionResidue FindResidue(DbAdapter adapter);

    void CancelNative();

    void PrepareNative();

    Task PrepareNativeAsync(CancellationToken cancellationToken);

    DbDataReader ReadNative(CommandBehavior behavior);

    Task<DbDataReader> ReadNativeAsync(CommandBehavior behavior, CancellationToken cancellationToken);
}
