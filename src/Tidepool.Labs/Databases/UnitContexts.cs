using System.Data.Common;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Tidepool.Data;

namespace Tidepool.Labs;

/// <summary>A row of the units of work; the server itself writes which of its processes inserted it.</summary>
internal sealed class Note
{
    /// <summary>The key.</summary>
    public int Id { get; set; }

    /// <summary>Something.</summary>
    public required string Text { get; set; }
}

/// <summary>The context of the units of work.</summary>
internal sealed class NotesContext(DbContextOptions<NotesContext> options) : DbContext(options)
{
    /// <summary>The rows.</summary>
    public DbSet<Note> Notes => Set<Note>();

    /// <inheritdoc/>
    protected override void OnModelCreating(ModelBuilder modelBuilder) =>
        modelBuilder.Entity<Note>(static note =>
        {
            note.ToTable("notes");
            note.Property(static n => n.Id).HasColumnName("id");
            note.Property(static n => n.Text).HasColumnName("text");
        });
}

/// <summary>How a unit of work gets its context, and its context a connection.</summary>
internal enum ContextKind
{
    /// <summary>A new context over the provider's pool.</summary>
    Provider,

    /// <summary>A new context, no pool.</summary>
    None,

    /// <summary>A pooled context over the provider's pool.</summary>
    PooledOverProvider,

    /// <summary>A new context that rents sessions of ours by itself.</summary>
    UseTidepool,

    /// <summary>A new context that rents sessions of ours, where each reset goes with the first statement of its next renter.</summary>
    UseTidepoolLater,

    /// <summary>A new context over a lease of ours.</summary>
    Lease,

    /// <summary>A pooled context over a lease of ours.</summary>
    PooledOverLease,

    /// <summary>A pooled context over ours, with a lease for each save instead of one for the whole unit.</summary>
    LeasePerSave,
}

/// <summary>Runs units of work.</summary>
internal sealed class UnitContexts : IDisposable
{
    private readonly ContextKind _kind;
    private readonly DbDataSource _source;
    private readonly ServiceProvider? _services;
    private readonly DbContextOptions<NotesContext>? _options;

    private UnitContexts(ContextKind kind, int size, string application, string more)
    {
        _kind = kind;
        _source = PoolKinds.OpenPostgres(
            PoolOf(kind),
            size,
            application: application,
            connectionString: LabServer.ConnectionString + more,
            resetsLater: kind == ContextKind.UseTidepoolLater);
        if (kind is ContextKind.UseTidepool or ContextKind.UseTidepoolLater)
        {
            _options = new DbContextOptionsBuilder<NotesContext>().UseNpgsql().UseTidepool((PooledDbDataSource)_source).Options;
        }
        else if (kind is ContextKind.Provider or ContextKind.None)
        {
            _options = new DbContextOptionsBuilder<NotesContext>().UseNpgsql(_source).Options;
        }
        else if (kind != ContextKind.Lease)
        {
            var services = new ServiceCollection();
            services.AddDbContextPool<NotesContext>(kind == ContextKind.PooledOverProvider
                ? options => options.UseNpgsql(_source)
                : static options => options.UseNpgsql());
            _services = services.BuildServiceProvider();
        }
    }

    /// <summary>Makes the table, and units of that kind.</summary>
    /// <param name="kind">Who has contexts and connections.</param>
    /// <param name="size">The most sessions.</param>
    /// <param name="application">The name under which the server lists the sessions.</param>
    /// <param name="more">What the connection string says in addition, behind a semicolon.</param>
    public static UnitContexts Open(ContextKind kind, int size, string application = "units", string more = "")
    {
        using var observer = DbConnections.OpenObserver();
        using var command = observer.CreateCommand();
        command.CommandText = "CREATE UNLOGGED TABLE IF NOT EXISTS notes (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text "
            + "NOT NULL, backend int NOT NULL DEFAULT pg_backend_pid())";
        command.ExecuteNonQuery();
        return new UnitContexts(kind, size, application, more);
    }

    /// <summary>Whether ours pools the connections.</summary>
    public static bool IsOurs(ContextKind kind) => PoolOf(kind) == PoolKind.Tidepool;

    /// <summary>What a kind is called.</summary>
    public static string NameOf(ContextKind kind) => kind switch
    {
        ContextKind.Provider => "DbContext, Npgsql's pool",
        ContextKind.None => "DbContext, Pooling=false",
        ContextKind.PooledOverProvider => "AddDbContextPool, Npgsql's pool",
        ContextKind.UseTidepool => "DbContext, UseTidepool",
        ContextKind.UseTidepoolLater => "DbContext, UseTidepool, reset with next",
        ContextKind.Lease => "DbContext, PooledDbDataSource",
        ContextKind.PooledOverLease => "AddDbContextPool, PooledDbDataSource",
        _ => "AddDbContextPool, a lease per save",
    };

    /// <summary>One unit of work: so many inserts, each saved by itself.</summary>
    /// <param name="text">What is inserted.</param>
    /// <param name="saves">How many inserts.</param>
    /// <param name="between">What the unit does elsewhere between two of them.</param>
    public async Task RunAsync(string text, int saves, TimeSpan between = default)
    {
        switch (_kind)
        {
            case ContextKind.Provider or ContextKind.None or ContextKind.UseTidepool or ContextKind.UseTidepoolLater:
                var own = new NotesContext(_options!);
                await using (own.ConfigureAwait(false))
                {
                    await WorkAsync(own, text, saves, between).ConfigureAwait(false);
                }

                break;
            case ContextKind.Lease:
                DbConnectionLease lease = await ((PooledDbDataSource)_source).RentNativeAsync().ConfigureAwait(false);
                await using (lease.ConfigureAwait(false))
                {
                    var leased = new NotesContext(new DbContextOptionsBuilder<NotesContext>().UseNpgsql(lease.Connection).Options);
                    await using (leased.ConfigureAwait(false))
                    {
                        await WorkAsync(leased, text, saves, between).ConfigureAwait(false);
                    }
                }

                break;
            default:
                AsyncServiceScope scope = _services!.CreateAsyncScope();
                await using (scope.ConfigureAwait(false))
                {
                    await WorkPooledAsync(
                        scope.ServiceProvider.GetRequiredService<NotesContext>(),
                        text,
                        saves,
                        between).ConfigureAwait(false);
                }

                break;
        }
    }

    /// <summary>Saves a row to look for.</summary>
    /// <returns>Its key.</returns>
    public async Task<int> AddAsync()
    {
        var context = new NotesContext(_options!);
        await using (context.ConfigureAwait(false))
        {
            Note note = context.Notes.Add(new Note { Text = "found" }).Entity;
            await context.SaveChangesAsync().ConfigureAwait(false);
            return note.Id;
        }
    }

    /// <summary>One unit of work: a row by its key, in a new context that is not a pooled one.</summary>
    /// <param name="id">The key.</param>
    public async Task FindAsync(int id)
    {
        var context = new NotesContext(_options!);
        await using (context.ConfigureAwait(false))
        {
            _ = await context.Notes.AsNoTracking().SingleAsync(note => note.Id == id).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _services?.Dispose();
        _source.Dispose();
    }

    private async Task WorkPooledAsync(NotesContext context, string text, int saves, TimeSpan between)
    {
        if (_kind == ContextKind.PooledOverProvider)
        {
            await WorkAsync(context, text, saves, between).ConfigureAwait(false);
        }
        else if (_kind == ContextKind.PooledOverLease)
        {
            await WithLeaseAsync(context, () => WorkAsync(context, text, saves, between)).ConfigureAwait(false);
        }
        else
        {
            for (int i = 0; i < saves; i++)
            {
                await PauseAsync(i, between).ConfigureAwait(false);
                await WithLeaseAsync(context, () => WorkAsync(context, text, 1, default)).ConfigureAwait(false);
            }
        }
    }

    /// <summary>The context goes back to its pool without the connection, which goes back to its own.</summary>
    private async Task WithLeaseAsync(NotesContext context, Func<Task> work)
    {
        DbConnectionLease lease = await ((PooledDbDataSource)_source).RentNativeAsync().ConfigureAwait(false);
        await using (lease.ConfigureAwait(false))
        {
            context.Database.SetDbConnection(lease.Connection);
            try
            {
                await work().ConfigureAwait(false);
            }
            finally
            {
                context.Database.SetDbConnection(null);
            }
        }
    }

    private static async Task WorkAsync(NotesContext context, string text, int saves, TimeSpan between)
    {
        for (int i = 0; i < saves; i++)
        {
            await PauseAsync(i, between).ConfigureAwait(false);
            context.Notes.Add(new Note { Text = text });
            await context.SaveChangesAsync().ConfigureAwait(false);
        }
    }

    private static Task PauseAsync(int save, TimeSpan between) =>
        save > 0 && between > TimeSpan.Zero ? Task.Delay(between) : Task.CompletedTask;

    private static PoolKind PoolOf(ContextKind kind) => kind switch
    {
        ContextKind.None => PoolKind.None,
        ContextKind.Provider or ContextKind.PooledOverProvider => PoolKind.Provider,
        _ => PoolKind.Tidepool,
    };
}
