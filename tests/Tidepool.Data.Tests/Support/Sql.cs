using System.Data.Common;
using System.Diagnostics;

namespace Tidepool.Data.Tests.Support;

/// <summary>Short forms for statements in tests.</summary>
internal static class Sql
{
    internal static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    internal static int Run(this DbConnection connection, string sql)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        return command.ExecuteNonQuery();
    }

    internal static T Read<T>(this DbConnection connection, string sql)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        object? value = command.ExecuteScalar();
        return value is T fitting ? fitting : (T)Convert.ChangeType(value!, typeof(T), System.Globalization.CultureInfo.InvariantCulture);
    }

    /// <summary>Waits, for a long time, until the pool has reset and ended what it has to.</summary>
    internal static void Settle(this PooledDbDataSource pool) => Until(
        () => pool.GetStatistics() is { Checking: 0, Creating: 0, Destroying: 0 }, "the pool to settle");

    internal static void Until(Func<bool> condition, string what)
    {
        Stopwatch watch = Stopwatch.StartNew();
        while (!condition())
        {
            Assert.True(watch.Elapsed < Limit, $"Waited {Limit.TotalSeconds} s in vain for: {what}");
            Thread.Sleep(1);
        }
    }
}
