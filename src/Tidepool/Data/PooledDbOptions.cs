using System.Data.Common;

namespace Tidepool.Data;

/// <summary>Sets what is special about a pool of database sessions; <see cref="Pool"/> has what every pool of resources has.</summary>
public sealed class PooledDbOptions
{
    /// <summary>Sets the size, the times and the rest of the pool of sessions.</summary>
    /// <remarks>
    /// <para>The default is <see cref="ResourcePoolOptions.MaxSize"/> = 100, and otherwise as for any pool of resources. The default name
    /// is <c>server:port/database</c>.</para>
    /// <para>The pool validates a session, and keeps it alive, by asking the server. <see cref="ResetMode.None"/> leaves everything but an
    /// open transaction to the next user: only for programs that never change a session.</para>
    /// </remarks>
    public ResourcePoolOptions Pool { get; init; } = new() { MaxSize = 100 };

    /// <summary>Chooses how the database is reset and asked, and what its errors mean. The default is chosen by the provider.</summary>
    public DbAdapter? Adapter { get; init; }

    /// <summary>Lets connections be opened inside a <see cref="System.Transactions.Transaction"/>, without taking part in it.</summary>
    /// <remarks>The default refuses, unless the connection string says <c>Enlist=false</c> or the provider never takes part.</remarks>
    public bool IgnoreAmbientTransactions { get; init; }

    /// <summary>Says what pools sessions between this program and the server. The default looks for a pooler and warns once.</summary>
    /// <remarks>
    /// With <see cref="SessionPooler.Unknown"/> PostgreSQL is asked once for the number of its process, one round trip for the first
    /// session of the pool; where it is not the number that the provider was told, the event <c>PoolerFound</c> says so. With
    /// <see cref="SessionPooler.Transaction"/> the pool resets nothing, whatever <see cref="ResourcePoolOptions.ResetMode"/> says, and
    /// <c>Prepare</c> of commands and batches does nothing.
    /// </remarks>
    public SessionPooler SessionPooler { get; init; }

    /// <summary>Sends the reset of a session together with the first statement of its next renter.</summary>
    /// <remarks>
    /// <para>The default resets after the return. This saves a round trip for each rental, as the provider's own pool does. No statement
    /// of a renter runs on what another one left. But an idle session keeps that for up to a second, after which the pool sends the reset:
    /// advisory locks, temporary tables, <c>LISTEN</c>, timeouts. Notifications that came meanwhile reach handlers of the next renter of
    /// the provider's connection. The reset runs under the settings of the one before, its time counts for the first statement of the next
    /// renter, which no token cancels before the reset is done, and a reset that fails is that statement's error.</para>
    /// <para>For PostgreSQL over Npgsql 10. A session on which the provider has prepared statements, or that was left with a transaction
    /// or a reader open, with <c>standard_conforming_strings</c> off or without a statement, is reset as
    /// <see cref="ResourcePoolOptions.ResetMode"/> says, and so are sessions of other databases and providers, and all sessions where the
    /// connection string sets <c>Keepalive</c>.</para>
    /// </remarks>
    public bool ResetWithNextStatement { get; init; }

    /// <summary>Destroys a session on return after <see cref="PooledDbConnection.Unwrap"/>. The default resets and keeps it.</summary>
    /// <remarks>
    /// A reset cannot remove handlers of the provider's events (<c>Notification</c>, <c>Notice</c>): they would be called for the next
    /// renters too. Does not concern <see cref="PooledDbDataSource.RentNative"/>.
    /// </remarks>
    public bool DestroySessionAfterUnwrap { get; init; }

    /// <summary>Makes a new session ready: settings, functions, attached databases. The default does nothing.</summary>
    /// <remarks>
    /// Gets the provider's connection, open, before a caller rents it. It must not keep it, enlist it, or leave a transaction or a reader
    /// open; it runs on whatever thread opens the session, outside of any ambient transaction. Unless
    /// <see cref="ResourcePoolOptions.ResetMode"/> is <see cref="ResetMode.None"/> the session is then reset once, so that all who rent it
    /// see the same: what a reset undoes is not there for the first one either (temporary tables; with PostgreSQL and MySQL also settings:
    /// those of PostgreSQL belong into the connection string). An exception is a failed creation.
    /// </remarks>
    public Action<DbConnection>? InitializeSession { get; init; }

    /// <summary>Makes a new session ready for callers that await; needs <see cref="InitializeSession"/> for those that block.</summary>
    /// <remarks>
    /// The token is cancelled after <see cref="ResourcePoolOptions.CreateTimeout"/>. The default calls <see cref="InitializeSession"/>.
    /// </remarks>
    public Func<DbConnection, CancellationToken, Task>? InitializeSessionAsync { get; init; }

    /// <summary>Checks what making a data source checks, the connection string apart.</summary>
    /// <remarks>For programs that read the values from a configuration.</remarks>
    /// <exception cref="ArgumentNullException"><see cref="Pool"/> is null.</exception>
    /// <exception cref="ArgumentException"><see cref="InitializeSessionAsync"/> is given alone, or a name is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public void Validate()
    {
        ResourceSettings.Given(Pool, nameof(Pool), "the options of a pool", "options");
        Pool.Validate();
        CheckPooler();
        SessionInitializer.Of(this);
    }

    /// <summary>Refuses a pooler that is none of those named.</summary>
    internal void CheckPooler()
    {
        if (!Enum.IsDefined(SessionPooler))
        {
            throw new ArgumentOutOfRangeException(
                "options",
                SessionPooler,
                $"{nameof(SessionPooler)} is {(int)SessionPooler}; allowed is {string.Join(", ", Enum.GetNames<SessionPooler>())}.");
        }
    }

    /// <summary>Gives the options of the pool of sessions.</summary>
    /// <param name="name">Its name where the program gives none.</param>
    internal ResourcePoolOptions ForPool(string name) => Pool with
    {
        Name = Pool.Name ?? name,
        ResetMode = SessionPooler == SessionPooler.Transaction ? ResetMode.None : Pool.ResetMode,
        MeterNames = MeterNames.Connections,
    };
}
