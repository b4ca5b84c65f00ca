using Microsoft.EntityFrameworkCore;
using Npgsql;
using Tidepool.Data;

namespace Samples;

/// <summary>Strategies that try again see the provider's exceptions, so they work over a pool as they do without.</summary>
public static class RetriesOverPool
{
    public static async Task RunAsync(string connectionString, Func<int, Task> endSession, TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(endSession);
        ArgumentNullException.ThrowIfNull(console);
        await using var source = new PooledDbDataSource(NpgsqlFactory.Instance, connectionString);
        DbContextOptions<NotesContext> options = new DbContextOptionsBuilder<NotesContext>()
            .UseNpgsql(npgsql => npgsql.EnableRetryOnFailure())
            .UseTidepool(source)
            .Options;

        await using var context = new NotesContext(options);
        await context.Database.ExecuteSqlRawAsync("CREATE TABLE notes (\"Id\" int GENERATED ALWAYS AS IDENTITY, \"Text\" text NOT NULL)");
        await context.Database.OpenConnectionAsync();
        int process = ((NpgsqlConnection)context.Database.GetDbConnection()).ProcessID;
        await context.Database.CloseConnectionAsync();

        await endSession(process); // an administrator, a failover, a restart
        context.Notes.Add(new Note { Text = "saved all the same" });
        await context.SaveChangesAsync();
        await console.WriteLineAsync(await context.Notes.Select(n => n.Text).SingleAsync());
    }

    private sealed class Note
    {
        public int Id { get; set; }

        public required string Text { get; set; }
    }

    private sealed class NotesContext(DbContextOptions<NotesContext> options) : DbContext(options)
    {
        public DbSet<Note> Notes => Set<Note>();

        protected override void OnModelCreating(ModelBuilder modelBuilder) => modelBuilder.Entity<Note>().ToTable("notes");
    }
}
