using System.Data.Common;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Infrastructure;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Data;

/// <summary>
/// Lets the provider make its connection ready for Entity Framework, once in the life of each: SQLite's adds functions and a collation for
/// decimals and regular expressions.
/// </summary>
/// <remarks>
/// The provider does that where it makes a connection, and where its relational connection is made for one that is there; swapping the
/// connection skips both. So one of these is made for it, and dropped. There is one object of this class for each set of provider's
/// options: a session notes which one has prepared it.
/// </remarks>
internal sealed class SessionPreparation
{
    /// <summary>Prepares a connection.</summary>
    internal static void Prepare(IServiceProvider services, IRelationalConnection relational, DbConnection native)
    {
        RelationalConnectionDependencies dependencies = services.GetRequiredService<RelationalConnectionDependencies>();
        RelationalOptionsExtension provider = RelationalOptionsExtension.Extract(dependencies.ContextOptions);
        var builder = new DbContextOptionsBuilder();

        // Without the timeout of this context: the provider would leave it on the connection, for contexts with another one.
        ((IDbContextOptionsBuilderInfrastructure)builder).AddOrUpdateExtension(
            provider.WithCommandTimeout(null).WithConnection(native));
        _ = ActivatorUtilities.CreateInstance(
            services, relational.GetType(), dependencies with { ContextOptions = builder.Options });
    }
}
