using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Infrastructure;

namespace Tidepool.Data;

/// <summary>Lets the contexts of Entity Framework Core work on pooled sessions.</summary>
public static class TidepoolDbContextOptionsExtensions
{
    /// <summary>
    /// Rents a session of a pool for each operation or transaction of a context, and returns it at the end of that. The context uses the
    /// provider's own connection, so that all of the provider works.
    /// </summary>
    /// <remarks>
    /// <para>Call it after the provider's method, which gets no connection: <c>options.UseNpgsql().UseTidepool(source)</c>. It works with
    /// <c>AddDbContext</c>, <c>AddDbContextPool</c> and context factories. The options may be shared by contexts on all threads; a
    /// context is for one thread at a time, as always. The source is not disposed with a context.</para>
    /// <para>A failed opening throws the provider's exception, as without a pool; a pool that has no session in time throws
    /// <see cref="PooledDbException"/>. Databases are created, deleted and migrated over a connection outside of the pool; afterwards the
    /// pool's sessions are made anew. Renting and returning cost what <see cref="PooledDbDataSource.RentNative"/> costs.</para>
    /// </remarks>
    /// <param name="optionsBuilder">The options of the context; the provider is chosen already.</param>
    /// <param name="source">The pool.</param>
    /// <returns>The same builder.</returns>
    /// <exception cref="ArgumentNullException">One is null.</exception>
    /// <exception cref="InvalidOperationException">No relational provider is chosen yet, or it has a connection of its own.</exception>
    public static DbContextOptionsBuilder UseTidepool(this DbContextOptionsBuilder optionsBuilder, PooledDbDataSource source)
    {
        ArgumentNullException.ThrowIfNull(optionsBuilder);
        ArgumentNullException.ThrowIfNull(source);
        SessionOptionsExtension.Check(optionsBuilder.Options);
        var builder = (IDbContextOptionsBuilderInfrastructure)optionsBuilder;
        builder.AddOrUpdateExtension(new SessionOptionsExtension(source));
        if (optionsBuilder.Options.FindExtension<CoreOptionsExtension>() is { } core)
        {
            builder.AddOrUpdateExtension(SessionOptionsExtension.WrapReplacements(core));
        }

        return optionsBuilder;
    }

    /// <summary>
    /// Rents a session of a pool for each operation or transaction of a context, and returns it at the end of that. See the other
    /// overload.
    /// </summary>
    /// <typeparam name="TContext">The context.</typeparam>
    /// <param name="optionsBuilder">The options of the context; the provider is chosen already.</param>
    /// <param name="source">The pool.</param>
    /// <returns>The same builder.</returns>
    /// <exception cref="ArgumentNullException">One is null.</exception>
    /// <exception cref="InvalidOperationException">No relational provider is chosen yet, or it has a connection of its own.</exception>
    public static DbContextOptionsBuilder<TContext> UseTidepool<TContext>(
        this DbContextOptionsBuilder<TContext> optionsBuilder, PooledDbDataSource source)
        where TContext : DbContext
    {
        UseTidepool((DbContextOptionsBuilder)optionsBuilder, source);
        return optionsBuilder;
    }
}
