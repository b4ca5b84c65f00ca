using System.Diagnostics.CodeAnalysis;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Data;

/// <summary>
/// Creates and deletes databases over a connection outside of the pool, whose sessions cannot be of a database that is not there. When
/// there is another database than before, the pool's sessions are made anew.
/// </summary>
internal class UnpooledDatabaseCreator(
    RelationalDatabaseCreatorDependencies dependencies, IRelationalDatabaseCreator inner, ContextSession session)
    : RelationalDatabaseCreator(dependencies)
{
    public override bool Exists()
    {
        using (session.WorkUnpooled())
        {
            return inner.Exists();
        }
    }

    public override async Task<bool> ExistsAsync(CancellationToken cancellationToken = default)
    {
        using (session.WorkUnpooled())
        {
            return await inner.ExistsAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    public override bool HasTables()
    {
        using (session.WorkUnpooled())
        {
            return inner.HasTables();
        }
    }

    public override async Task<bool> HasTablesAsync(CancellationToken cancellationToken = default)
    {
        using (session.WorkUnpooled())
        {
            return await inner.HasTablesAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    public override void Create() => session.Change(inner.Create);

    public override Task CreateAsync(CancellationToken cancellationToken = default) =>
        session.ChangeAsync(() => inner.CreateAsync(cancellationToken));

    public override void Delete() => session.Change(inner.Delete);

    public override Task DeleteAsync(CancellationToken cancellationToken = default) =>
        session.ChangeAsync(() => inner.DeleteAsync(cancellationToken));

    public override void CreateTables() => session.Change(inner.CreateTables);

    public override Task CreateTablesAsync(CancellationToken cancellationToken = default) =>
        session.ChangeAsync(() => inner.CreateTablesAsync(cancellationToken));

    public override string GenerateCreateScript() => inner.GenerateCreateScript();

    public override bool CanConnect()
    {
        using (session.WorkUnpooled())
        {
            return inner.CanConnect();
        }
    }

    public override async Task<bool> CanConnectAsync(CancellationToken cancellationToken = default)
    {
        using (session.WorkUnpooled())
        {
            return await inner.CanConnectAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    public override bool EnsureCreated()
    {
        session.CheckIsShared();
        using (session.WorkUnpooled())
        {
            bool isChanged = true; // a creation that fails may have changed it
            try
            {
                isChanged = inner.EnsureCreated();
                return isChanged;
            }
            finally
            {
                if (isChanged)
                {
                    session.RenewSessions();
                }
            }
        }
    }

    public override async Task<bool> EnsureCreatedAsync(CancellationToken cancellationToken = default)
    {
        session.CheckIsShared();
        using (session.WorkUnpooled())
        {
            bool isChanged = true;
            try
            {
                isChanged = await inner.EnsureCreatedAsync(cancellationToken).ConfigureAwait(false);
                return isChanged;
            }
            finally
            {
                if (isChanged)
                {
                    await session.RenewSessionsAsync().ConfigureAwait(false);
                }
            }
        }
    }

    public override bool EnsureDeleted()
    {
        bool deleted = false;
        session.Change(() => deleted = inner.EnsureDeleted());
        return deleted;
    }

    public override async Task<bool> EnsureDeletedAsync(CancellationToken cancellationToken = default)
    {
        bool deleted = false;
        await session.ChangeAsync(async () => deleted = await inner.EnsureDeletedAsync(cancellationToken).ConfigureAwait(false))
            .ConfigureAwait(false);
        return deleted;
    }
}

/// <summary>Around a creator of the program's own.</summary>
[SuppressMessage("Performance", "CA1812", Justification = "Made by Entity Framework.")]
internal sealed class UnpooledDatabaseCreator<TInner>(
    RelationalDatabaseCreatorDependencies dependencies, IServiceProvider services, ContextSession session)
    : UnpooledDatabaseCreator(dependencies, ActivatorUtilities.CreateInstance<TInner>(services), session)
    where TInner : class, IRelationalDatabaseCreator;
