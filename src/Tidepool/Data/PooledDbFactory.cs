using System.Data.Common;

namespace Tidepool.Data;

/// <summary>What code that knows only a factory gets from a pooled connection.</summary>
internal sealed class PooledDbFactory(PooledDbDataSource source) : DbProviderFactory
{
    public override bool CanCreateBatch => source.NativeFactory is { CanCreateBatch: true };

    public override bool CanCreateCommandBuilder => false;

    public override DbConnection CreateConnection() => source.CreateConnection();

    public override DbCommand CreateCommand() => new PooledDbCommand(source, null);

    public override DbBatch CreateBatch() => new PooledDbBatch(source, null);

    public override DbBatchCommand CreateBatchCommand() => Native.CreateBatchCommand();

    public override DbParameter? CreateParameter() => Native.CreateParameter();

    public override DbDataAdapter CreateDataAdapter() => new PooledDbDataAdapter();

    public override DbConnectionStringBuilder? CreateConnectionStringBuilder() => Native.CreateConnectionStringBuilder();

    public override DbDataSource CreateDataSource(string connectionString) =>
        new PooledDbDataSource(Native, connectionString, source.Options);

    private DbProviderFactory Native =>
        source.NativeFactory ?? throw new NotSupportedException($"The provider of '{source.Name}' has no factory.");

    /// <summary>Fills tables from pooled commands; the provider's own takes only its own.</summary>
    private sealed class PooledDbDataAdapter : DbDataAdapter;
}
