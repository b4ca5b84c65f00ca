using System.Diagnostics.CodeAnalysis;
using Microsoft.EntityFrameworkCore.Migrations;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Data;

/// <summary>
/// Migrates over a connection outside of the pool. The provider reloads the database's types on the connection that it took before it
/// opened it, so that one stays the same; the pool's sessions are made anew to know them too.
/// </summary>
internal class UnpooledMigrator(IMigrator inner, ContextSession session) : IMigrator
{
    public void Migrate(string? targetMigration = null) => session.Change(() => inner.Migrate(targetMigration));

    public Task MigrateAsync(string? targetMigration = null, CancellationToken cancellationToken = default) =>
        session.ChangeAsync(() => inner.MigrateAsync(targetMigration, cancellationToken));

    public string GenerateScript(
        string? fromMigration = null,
        string? toMigration = null,
        MigrationsSqlGenerationOptions options = MigrationsSqlGenerationOptions.Default) =>
        inner.GenerateScript(fromMigration, toMigration, options);

    public bool HasPendingModelChanges() => inner.HasPendingModelChanges();
}

/// <summary>Around a migrator of the program's own.</summary>
[SuppressMessage("Performance", "CA1812", Justification = "Made by Entity Framework.")]
internal sealed class UnpooledMigrator<TInner>(IServiceProvider services, ContextSession session)
    : UnpooledMigrator(ActivatorUtilities.CreateInstance<TInner>(services), session)
    where TInner : class, IMigrator;
