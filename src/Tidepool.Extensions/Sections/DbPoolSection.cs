using System.Data.Common;
using Tidepool.Data;

namespace Tidepool;

/// <summary>What <c>Tidepool:Pools:NAME</c> may say of a pool of database connections.</summary>
/// <remarks>Each property means what it means in <see cref="PooledDbOptions"/>, and has the same default.</remarks>
public sealed class DbPoolSection : ResourcePoolSection
{
    private Action<DbConnection>? _initialize;
    private Func<DbConnection, CancellationToken, Task>? _initializeAsync;
    private DbAdapter? _adapter;

    /// <summary>Makes a section with the defaults.</summary>
    public DbPoolSection() => MaxSize = new PooledDbOptions().Pool.MaxSize;

    /// <summary>Says how the provider connects. The default is <c>ConnectionStrings:NAME</c>.</summary>
    public string? ConnectionString { get; set; }

    /// <inheritdoc cref="PooledDbOptions.IgnoreAmbientTransactions"/>
    public bool IgnoreAmbientTransactions { get; set; }

    /// <inheritdoc cref="PooledDbOptions.SessionPooler"/>
    public SessionPooler SessionPooler { get; set; }

    /// <inheritdoc cref="PooledDbOptions.ResetWithNextStatement"/>
    public bool ResetWithNextStatement { get; set; }

    /// <inheritdoc cref="PooledDbOptions.DestroySessionAfterUnwrap"/>
    public bool DestroySessionAfterUnwrap { get; set; }

    /// <summary>Makes each new session ready; see <see cref="PooledDbOptions.InitializeSession"/>.</summary>
    /// <param name="initialize">For callers that block.</param>
    /// <param name="initializeAsync">For callers that await; null calls <paramref name="initialize"/>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="initialize"/> is null.</exception>
    public void InitializeSessions(
        Action<DbConnection> initialize, Func<DbConnection, CancellationToken, Task>? initializeAsync = null)
    {
        ArgumentNullException.ThrowIfNull(initialize);
        (_initialize, _initializeAsync) = (initialize, initializeAsync);
    }

    /// <summary>Chooses how the database is reset and asked; see <see cref="PooledDbOptions.Adapter"/>.</summary>
    /// <param name="adapter">The adapter.</param>
    /// <exception cref="ArgumentNullException"><paramref name="adapter"/> is null.</exception>
    public void UseAdapter(DbAdapter adapter)
    {
        ArgumentNullException.ThrowIfNull(adapter);
        _adapter = adapter;
    }

    internal PooledDbOptions ToDbOptions(string name, IServiceProvider? services) => new()
    {
        Pool = ToOptions(name, services),
        Adapter = _adapter,
        IgnoreAmbientTransactions = IgnoreAmbientTransactions,
        SessionPooler = SessionPooler,
        ResetWithNextStatement = ResetWithNextStatement,
        DestroySessionAfterUnwrap = DestroySessionAfterUnwrap,
        InitializeSession = _initialize,
        InitializeSessionAsync = _initializeAsync,
    };
}
