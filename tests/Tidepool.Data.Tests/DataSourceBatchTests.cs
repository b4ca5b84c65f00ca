using System.Data.Common;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>A batch of the data source: it opens a connection for each execution, as the provider's does.</summary>
[Collection(PostgresServer.Collection)]
public sealed class DataSourceBatchTests(PostgresServer server)
{
    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task It_makes_commands_and_executes_and_gives_the_session_back(bool isAsync)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using DbBatch batch = NewBatch(pool, "SELECT 7", "SELECT 8");

        Assert.Equal(7, isAsync ? await batch.ExecuteScalarAsync() : batch.ExecuteScalar());
        Assert.Equal(-1, isAsync ? await batch.ExecuteNonQueryAsync() : batch.ExecuteNonQuery());
        await using (DbDataReader reader = isAsync ? await batch.ExecuteReaderAsync() : batch.ExecuteReader())
        {
            Assert.Equal(1, pool.GetStatistics().Leased);
            Assert.True(await reader.ReadAsync());
            Assert.Equal(7, reader.GetInt32(0));
            Assert.True(await reader.NextResultAsync());
            Assert.True(await reader.ReadAsync());
            Assert.Equal(8, reader.GetInt32(0));
        }

        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task One_that_fails_gives_the_session_back(bool isAsync)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using DbBatch batch = NewBatch(pool, "SELECT 1 / 0");

        await Assert.ThrowsAsync<PostgresException>(async () => _ = isAsync ? await batch.ExecuteScalarAsync() : batch.ExecuteScalar());
        await Assert.ThrowsAsync<PostgresException>(async () => _ = isAsync ? await batch.ExecuteNonQueryAsync() : batch.ExecuteNonQuery());
        await Assert.ThrowsAsync<PostgresException>(
            async () => await (isAsync ? await batch.ExecuteReaderAsync() : batch.ExecuteReader()).ReadAsync());

        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [PostgresFact]
    public async Task It_has_no_connection_and_no_transaction_of_its_own()
    {
        await using PooledDbDataSource pool = server.NewPool();
        await using DbBatch batch = NewBatch(pool, "SELECT 1");
        Assert.Throws<NotSupportedException>(() => batch.Connection);
        Assert.Throws<NotSupportedException>(() => batch.Transaction);
        Assert.Throws<NotSupportedException>(batch.Prepare);
        await Assert.ThrowsAsync<NotSupportedException>(() => batch.PrepareAsync());
    }

    private static DbBatch NewBatch(DbDataSource source, params string[] texts)
    {
        DbBatch batch = source.CreateBatch();
        foreach (string text in texts)
        {
            DbBatchCommand command = batch.CreateBatchCommand();
            command.CommandText = text;
            batch.BatchCommands.Add(command);
        }

        return batch;
    }
}
