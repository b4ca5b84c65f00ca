using System.Data;
using System.Data.Common;
using System.Net.NetworkInformation;
using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>
/// A server that takes connections and answers nothing: what ends each wait, where the connection string limits no opening. The provider
/// opens a connection to cancel a statement too. docs/design/data.md has the table.
/// </summary>
public sealed class SilentServerFaults(FaultServer server) : FaultTest(server)
{
    private const string Question = "SHOW work_mem";

    /// <summary>Long enough for an opening on a busy machine.</summary>
    private static readonly TimeSpan Opening = TimeSpan.FromSeconds(2);

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_statement_that_took_too_long_ends_although_nothing_answers_to_its_cancellation(bool resetsLater)
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = await NewUsedPoolAsync(proxy, "Command Timeout=1", resetsLater);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            proxy.SetBlackhole(true);

            Exception failure = await FailAsync(ReadAsync<string>(connection, Question));

            Assert.True(Has<TimeoutException>(failure, static _ => true), failure.ToString());
            Assert.Equal(ConnectionState.Closed, connection.State);
        }

        await EndWellAsync(pool, proxy);
    }

    /// <summary>While the reset is under way the token is not heard: then the limit of the statement counts.</summary>
    [PostgresTheory]
    [InlineData(false, 0)]
    [InlineData(true, 1)]
    public async Task A_statement_whose_token_is_cancelled_ends_although_nothing_answers_to_its_cancellation(bool resetsLater, int seconds)
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = await NewUsedPoolAsync(proxy, $"Command Timeout={seconds}", resetsLater);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            proxy.SetBlackhole(true);
            using var cancellation = new CancellationTokenSource();
            Task<string> answer = ReadAsync<string>(connection, Question, cancellation.Token);
            await cancellation.CancelAsync();

            Assert.IsAssignableFrom<OperationCanceledException>(await FailAsync(answer));
        }

        await EndWellAsync(pool, proxy);
    }

    [PostgresFact]
    public async Task A_close_that_rolls_back_ends()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = await NewUsedPoolAsync(proxy, "Command Timeout=1", resetsLater: false);
        PooledDbConnection connection = await pool.OpenConnectionAsync();
        await connection.BeginTransactionAsync();
        await AskAsync(connection);
        proxy.SetBlackhole(true);

        Task closing = connection.DisposeAsync().AsTask();

        await UntilAsync(() => closing.IsCompleted, "the connection is closed");
        await closing;
        await EndWellAsync(pool, proxy);
    }

    /// <summary>The provider would read for the end of its reader what the other thread reads.</summary>
    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_connection_that_is_closed_while_another_thread_reads_a_column_does_not_wait_and_is_not_used_again(bool isText)
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(Patient(1) with { PolicyTimeout = TimeSpan.FromSeconds(1) }, proxy.Port);
        PooledDbConnection connection = await pool.OpenConnectionAsync();
        int process = await AskAsync(connection);
        DbCommand command = connection.CreateCommand();
        command.CommandText = $"SELECT repeat('a', 10000000)::{(isText ? "text" : "bytea")}";
        proxy.ToClient.BytesPerSecond = 1_000_000;
        DbDataReader reader = await command.ExecuteReaderAsync(CommandBehavior.SequentialAccess);
        Assert.True(await reader.ReadAsync());
        Task reading = isText
            ? reader.GetTextReader(0).ReadToEndAsync()
            : reader.GetStream(0).CopyToAsync(Stream.Null);
        proxy.FreezeAll();

        Task closing = connection.DisposeAsync().AsTask();

        await UntilAsync(() => closing.IsCompleted, "the connection is closed");
        Assert.False(reading.IsCompleted);
        await UntilAsync(() => pool.GetStatistics().Total == 0, "its place is free");
        proxy.ResetAll();
        Assert.NotNull(await Record.ExceptionAsync(() => reading));
        proxy.ToClient.BytesPerSecond = int.MaxValue;
        Assert.NotEqual(process, await UseAsync(pool));
    }

    /// <summary>
    /// A reset after the return, or the keep-alive that takes one along: then the provider does not hear the token, and reads for as long
    /// as the statement may take.
    /// </summary>
    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_reset_without_an_answer_frees_its_place_and_then_its_connection(bool resetsLater)
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            Patient(1) with { PolicyTimeout = TimeSpan.FromSeconds(1) }, proxy.Port, resetsLater: resetsLater);
        await UseAsync(pool);
        await SettleAsync(pool);
        int silent;
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            silent = await AskAsync(connection);
            proxy.FreezeAll();
        }

        await UntilAsync(() => pool.GetStatistics().Total == 0, "its place is free");
        await UntilAsync(() => CountConnectionsTo(proxy) == 0, "its connection is closed");
        Assert.NotEqual(silent, await UseAsync(pool));
    }

    private static int CountConnectionsTo(FaultProxy proxy) => IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpConnections()
        .Count(connection => connection.RemoteEndPoint.Port == proxy.Port && connection.State == TcpState.Established);

    /// <summary>A pool of one session that was used, and whose reset may still be due.</summary>
    private async Task<PooledDbDataSource> NewUsedPoolAsync(FaultProxy proxy, string more, bool resetsLater)
    {
        PooledDbDataSource pool = NewPool(Patient(1) with { CreateTimeout = Opening }, proxy.Port, more, resetsLater);
        await UntilAsync(async () => await TryUseAsync(pool) is null, "a session is opened and answers in time");
        await SettleAsync(pool);
        return pool;
    }

    private static async Task<Exception> FailAsync(Task answer)
    {
        await UntilAsync(() => answer.IsCompleted, "it ends");
        return (await Record.ExceptionAsync(() => answer))!;
    }

    private static async Task EndWellAsync(PooledDbDataSource pool, FaultProxy proxy)
    {
        proxy.SetBlackhole(false);
        await UntilAsync(async () => await TryUseAsync(pool) is null, "it works again");
    }
}
