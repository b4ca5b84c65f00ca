using System.Data;
using System.Data.Common;
using System.Globalization;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Diagnostics;
using Microsoft.EntityFrameworkCore.Query;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// One run of a scenario: over the provider's pool or over ours, by the synchronous or the asynchronous methods. It writes down what the
/// scenario says, how it fails, and what Entity Framework logs.
/// </summary>
internal sealed class Run(TestDatabase database, PooledDbDataSource? source, bool isAsync)
{
    private bool _hasConnections = true;

    internal List<string> Transcript { get; } = [];

    internal ShopContext New(bool retries = false) => new(Options<ShopContext>(retries));

    internal DbContextOptions<TContext> Options<TContext>(bool retries = false)
        where TContext : DbContext
    {
        var builder = new DbContextOptionsBuilder<TContext>();
        Choose(builder, retries);
        return builder.Options;
    }

    internal ServiceProvider Services() => new ServiceCollection()
        .AddDbContextPool<ShopContext>(builder => Choose(builder, retries: false), poolSize: 2)
        .BuildServiceProvider();

    /// <summary>
    /// From here on connections are not compared. After the loss of a session Entity Framework counts anew how often its connection was
    /// opened, so that one that was held opens for each operation.
    /// </summary>
    internal void LeaveConnectionsOut() => _hasConnections = false;

    internal void Say(object? what) => Transcript.Add(Text(what));

    /// <summary>Writes down the exceptions of something that fails, from the outermost to the innermost.</summary>
    internal async Task FailAsync(Func<Task> work)
    {
        try
        {
            await work();
            Transcript.Add("did not fail");
        }
        catch (Exception failure)
        {
            for (Exception? e = failure; e is not null; e = e.InnerException)
            {
                // Which of the exceptions for a cancellation it is depends on how far the provider came.
                Transcript.Add(e is OperationCanceledException ? "cancelled" : $"{e.GetType()} {(e as DbException)?.SqlState}");
            }
        }
    }

    internal async Task<List<T>> List<T>(IQueryable<T> query) => isAsync ? await query.ToListAsync() : query.ToList();

    internal async Task<T> First<T>(IQueryable<T> query) => isAsync ? await query.FirstAsync() : query.First();

    internal async Task<int> Count<T>(IQueryable<T> query) => isAsync ? await query.CountAsync() : query.Count();

    internal async Task<decimal> Sum(IQueryable<decimal> query) => isAsync ? await query.SumAsync() : query.Sum();

    internal async Task<int> Save(DbContext context) => isAsync ? await context.SaveChangesAsync() : context.SaveChanges();

    internal async Task<IDbContextTransaction> Begin(DbContext context, IsolationLevel level = IsolationLevel.Unspecified) =>
        isAsync ? await context.Database.BeginTransactionAsync(level) : context.Database.BeginTransaction(level);

    internal Task Commit(IDbContextTransaction transaction) => Do(transaction.CommitAsync, transaction.Commit);

    internal Task RollBack(IDbContextTransaction transaction) => Do(transaction.RollbackAsync, transaction.Rollback);

    internal Task Savepoint(IDbContextTransaction transaction, string name) =>
        Do(stop => transaction.CreateSavepointAsync(name, stop), () => transaction.CreateSavepoint(name));

    internal Task RollBackTo(IDbContextTransaction transaction, string name) =>
        Do(stop => transaction.RollbackToSavepointAsync(name, stop), () => transaction.RollbackToSavepoint(name));

    internal Task Open(DbContext context) => Do(context.Database.OpenConnectionAsync, context.Database.OpenConnection);

    internal Task Close(DbContext context) => Do(_ => context.Database.CloseConnectionAsync(), context.Database.CloseConnection);

    internal async Task<int> Execute(DbContext context, string sql, params object[] values) => isAsync
        ? await context.Database.ExecuteSqlRawAsync(sql, values)
        : context.Database.ExecuteSqlRaw(sql, values);

    internal async Task<int> Update<T>(IQueryable<T> query, Action<UpdateSettersBuilder<T>> set) =>
        isAsync ? await query.ExecuteUpdateAsync(set) : query.ExecuteUpdate(set);

    internal async Task<int> Delete<T>(IQueryable<T> query) => isAsync ? await query.ExecuteDeleteAsync() : query.ExecuteDelete();

    internal async Task End<T>(T item)
        where T : IDisposable
    {
        if (isAsync)
        {
            await ((IAsyncDisposable)item).DisposeAsync();
        }
        else
        {
            item.Dispose();
        }
    }

    /// <summary>Goes through a query row by row, with the connection open.</summary>
    internal async Task Stream<T>(IQueryable<T> query, Func<T, Task> use)
    {
        if (isAsync)
        {
            await foreach (T item in query.AsAsyncEnumerable())
            {
                await use(item);
            }
        }
        else
        {
            foreach (T item in query.AsEnumerable())
            {
                await use(item);
            }
        }
    }

    internal Task Do(Func<CancellationToken, Task> asynchronous, Action synchronous)
    {
        if (isAsync)
        {
            return asynchronous(CancellationToken.None);
        }

        synchronous();
        return Task.CompletedTask;
    }

    internal async Task<T> Get<T>(Func<CancellationToken, Task<T>> asynchronous, Func<T> synchronous) =>
        isAsync ? await asynchronous(CancellationToken.None) : synchronous();

    /// <summary>Ends the session that a context uses now, from outside.</summary>
    internal Task Kill(DbContext context) => database.KillAsync(context.Database.GetDbConnection());

    internal Task Migrate(DbContext context) => Do(stop => context.Database.MigrateAsync(stop), context.Database.Migrate);

    private void Choose(DbContextOptionsBuilder builder, bool retries)
    {
        if (source is null)
        {
            database.UseProvider(builder, database.ConnectionString, retries);
        }
        else
        {
            database.UseProvider(builder, connectionString: null, retries);
            builder.UseTidepool(source);
        }

        // The same for all contexts: each other choice would need services of its own, of which there may be twenty.
        builder.ConfigureWarnings(static warnings => warnings.Ignore(RelationalEventId.PendingModelChangesWarning));
        builder.EnableSensitiveDataLogging().LogTo(static (_, _) => true, Log);
    }

    /// <summary>Statements with their values, transactions, connections: all but times and identifiers.</summary>
    private void Log(EventData data)
    {
        string name = data.EventId.Name!.Split('.')[^1];
        string? line = data switch
        {
            CommandExecutedEventData command => $"{command.Command.CommandText} {Values(command.Command)}",
            CommandErrorEventData command => $"{command.Command.CommandText} {command.Exception.GetType()}",
            CommandEventData or CommandEndEventData => null,
            ConnectionEventData or ConnectionCreatingEventData or ConnectionCreatedEventData when !_hasConnections || !IsSame(name) => null,
            TransactionErrorEventData transaction => $"{transaction.Action} {transaction.Exception.GetType()}",
            TransactionStartingEventData transaction => $"{transaction.IsolationLevel} async={transaction.IsAsync}",
            TransactionEventData transaction => $"async={transaction.IsAsync}",
            ConnectionErrorEventData connection => $"{connection.Exception.GetType()} async={connection.IsAsync}",
            ConnectionEventData connection => $"async={connection.IsAsync}",
            DataReaderEventData or DataReaderClosingEventData or DataReaderDisposingEventData => string.Empty,
            _ => null,
        };
        if (line is not null)
        {
            Transcript.Add($"  {name} {line}");
        }
    }

    /// <summary>Connections that stand for sessions are made and disposed at other times than those that are sessions.</summary>
    private static bool IsSame(string name) =>
        name is "ConnectionOpening" or "ConnectionOpened" or "ConnectionClosing" or "ConnectionClosed" or "ConnectionError";

    private static string Values(DbCommand command) => string.Join(
        ", ",
        command.Parameters.Cast<DbParameter>()
            .Select(static p => $"{p.ParameterName}={Text(p.Value)}").Append($"{command.CommandTimeout} s"));

    private static string Text(object? value) => value switch
    {
        string text => text,
        System.Collections.IEnumerable items => $"[{string.Join(", ", items.Cast<object?>().Select(Text))}]",
        Customer c => $"customer {c.Id} {c.Name} {c.Balance.ToString("0.##", CultureInfo.InvariantCulture)} {c.Version}"
            + $" {c.Orders.Count} {c.Tags.Count}",
        Order o => $"order {o.Id} {o.What} {o.Price.ToString("0.##", CultureInfo.InvariantCulture)} of {o.CustomerId}",
        Tag t => $"tag {t.Text}",
        IFormattable item => item.ToString(null, CultureInfo.InvariantCulture),
        _ => $"{value}",
    };
}
