using Microsoft.EntityFrameworkCore.Migrations;

namespace Tidepool.Data;

/// <summary>
/// Migrates over a connection outside of the pool. The provider reloads the database's types on the connection that it took before it
/// opened it, so that one stays the same; the pool's sessions are made anew to know them too.
/// </summary>
internal sealed class UnpooledMigrator(IMigrator inner, ContextSession session) : IMigrator
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
