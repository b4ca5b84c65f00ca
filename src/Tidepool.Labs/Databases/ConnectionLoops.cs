using System.Data.Common;

namespace Tidepool.Labs;

/// <summary>The timed loops of one subject.</summary>
internal static class ConnectionLoops<TSubject, TConnection>
    where TSubject : struct, ISourceSubject<TSubject, TConnection>
    where TConnection : DbConnection
{
    /// <summary>One caller opens and disposes.</summary>
    public static Loop OpenAndClose(DbDataSource source, int warm) => Over(source, warm, static async (subject, operations) =>
    {
        for (int i = 0; i < operations; i++)
        {
            TConnection connection = await subject.OpenAsync().ConfigureAwait(false);
            await connection.DisposeAsync().ConfigureAwait(false);
        }
    });

    /// <summary>Callers open, ask and dispose, each again as soon as it is done.</summary>
    /// <param name="source">The connections.</param>
    /// <param name="warm">How many to open before.</param>
    /// <param name="callers">How many at once; one runs without a task of its own.</param>
    /// <param name="reset">A statement that each caller executes before it disposes; null is none.</param>
    public static Loop Ask(DbDataSource source, int warm, int callers = 1, string? reset = null) =>
        Over(source, warm, (subject, operations) => callers == 1
            ? AskAsync(subject, operations, reset)
            : Task.WhenAll(Enumerable.Range(0, callers).Select(i => Task.Run(
                () => AskAsync(subject, (operations / callers) + (i < operations % callers ? 1 : 0), reset)))));

    private static async Task AskAsync(TSubject subject, int operations, string? reset)
    {
        for (int i = 0; i < operations; i++)
        {
            TConnection connection = await subject.OpenAsync().ConfigureAwait(false);
            await using (connection.ConfigureAwait(false))
            {
                DbCommand command = connection.CreateCommand();
                await using (command.ConfigureAwait(false))
                {
                    command.CommandText = "SELECT 1";
                    object? answer = await command.ExecuteScalarAsync().ConfigureAwait(false);
                    if (Convert.ToInt32(answer, System.Globalization.CultureInfo.InvariantCulture) != 1)
                    {
                        throw new InvalidOperationException($"SELECT 1 gave {answer}.");
                    }

                    if (reset is not null)
                    {
                        command.CommandText = reset;
                        await command.ExecuteNonQueryAsync().ConfigureAwait(false);
                    }
                }
            }
        }
    }

    /// <summary>A loop over a data source, which it fills at first and disposes at last.</summary>
    private static AsyncLoop Over(DbDataSource source, int warm, Func<TSubject, int, Task> body)
    {
        DbConnections.Warm(source, warm);
        TSubject subject = TSubject.Of(source);
        return new AsyncLoop(operations => body(subject, operations), batchFactor: 1, source);
    }
}
