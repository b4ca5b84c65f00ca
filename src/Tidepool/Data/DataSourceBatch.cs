using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>A batch of the data source itself: opens a connection for each execution, and closes it after it or with the reader.</summary>
/// <remarks>The base class has one too, whose batch makes no commands.</remarks>
[SuppressMessage("Usage", "CA2215", Justification = "The base classes hold nothing: their asynchronous disposal is the synchronous one.")]
internal sealed class DataSourceBatch : DbBatch
{
    private readonly PooledDbConnection _connection;
    private readonly PooledDbBatch _batch;

    internal DataSourceBatch(PooledDbDataSource source)
    {
        _connection = source.CreateConnection();
        _batch = new PooledDbBatch(source, _connection);
    }

    public override int Timeout
    {
        get => _batch.Timeout;
        set => _batch.Timeout = value;
    }

    protected override DbBatchCommandCollection DbBatchCommands => _batch.BatchCommands;

    protected override DbConnection? DbConnection
    {
        get => throw NotOfADataSource();
        set => throw NotOfADataSource();
    }

    protected override DbTransaction? DbTransaction
    {
        get => throw NotOfADataSource();
        set => throw NotOfADataSource();
    }

    public override int ExecuteNonQuery() => Run(static batch => batch.ExecuteNonQuery());

    public override object? ExecuteScalar() => Run(static batch => batch.ExecuteScalar());

    public override Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken = default) =>
        RunAsync(static (batch, token) => batch.ExecuteNonQueryAsync(token), cancellationToken);

    public override Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken = default) =>
        RunAsync(static (batch, token) => batch.ExecuteScalarAsync(token), cancellationToken);

    public override void Prepare() => throw NotOfADataSource();

    public override Task PrepareAsync(CancellationToken cancellationToken = default) => Task.FromException(NotOfADataSource());

    public override void Cancel() => _batch.Cancel();

    public override void Dispose()
    {
        _batch.Dispose();
        _connection.Dispose();
        base.Dispose();
    }

    public override async ValueTask DisposeAsync()
    {
        await _batch.DisposeAsync().ConfigureAwait(false);
        await _connection.DisposeAsync().ConfigureAwait(false);
    }

    protected override DbBatchCommand CreateDbBatchCommand() => _batch.CreateBatchCommand();

    protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior)
    {
        _connection.Open();
        try
        {
            return _batch.ExecuteReader(behavior | CommandBehavior.CloseConnection);
        }
        catch
        {
            _connection.Close();
            throw;
        }
    }

    protected override async Task<DbDataReader> ExecuteDbDataReaderAsync(CommandBehavior behavior, CancellationToken cancellationToken)
    {
        await _connection.OpenAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await _batch.ExecuteReaderAsync(behavior | CommandBehavior.CloseConnection, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            await _connection.CloseAsync().ConfigureAwait(false);
            throw;
        }
    }

    private T Run<T>(Func<PooledDbBatch, T> work)
    {
        _connection.Open();
        try
        {
            return work(_batch);
        }
        finally
        {
            _connection.Close();
        }
    }

    private async Task<T> RunAsync<T>(Func<PooledDbBatch, CancellationToken, Task<T>> work, CancellationToken cancellationToken)
    {
        await _connection.OpenAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await work(_batch, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            await _connection.CloseAsync().ConfigureAwait(false);
        }
    }

    private static NotSupportedException NotOfADataSource() =>
        new(
            "A batch of a data source has a connection for each execution only: for a "
                + "transaction or a preparation make it by an open connection.");
}
