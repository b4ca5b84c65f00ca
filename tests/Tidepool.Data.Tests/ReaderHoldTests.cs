using System.Data;
using System.Data.Common;
using System.Reflection;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>
/// A connection that is closed while another thread is inside of its reader: no other caller gets the session, which ends. Whatever may
/// wait for the server is looked at.
/// </summary>
public sealed class ReaderHoldTests
{
    /// <summary>What holds the session in the middle of any row. The first word is the member of the base type.</summary>
    private static readonly Call[] OfAnyRow =
    [
        new("Read", "row", static reader => reader.Read()),
        new("ReadAsync", "row", static reader => reader.ReadAsync()),
        new("NextResult", "next result", static reader => reader.NextResult()),
        new("NextResultAsync", "next result", static reader => reader.NextResultAsync()),
        new("Close", "close reader", static reader => Do(reader.Close)),
        new("CloseAsync", "close reader", static reader => reader.CloseAsync()),
        new("Dispose", "close reader", static reader => Do(reader.Dispose)),
        new("DisposeAsync", "close reader", static reader => reader.DisposeAsync().AsTask()),
        new("GetBytes", "GetBytes", static reader => reader.GetBytes(0, 0, new byte[1], 0, 1)),
        new("GetChars", "GetChars", static reader => reader.GetChars(0, 0, new char[1], 0, 1)),
        new("GetStream", "GetStream", static reader => reader.GetStream(0)),
        new("GetTextReader", "GetTextReader", static reader => reader.GetTextReader(0)),
        new("GetFieldValue of a stream", "GetStream", static reader => reader.GetFieldValue<Stream>(0)),
        new("GetFieldValue of a text", "GetTextReader", static reader => reader.GetFieldValue<TextReader>(0)),
        new("GetFieldValueAsync", "GetValue", static reader => reader.GetFieldValueAsync<string>(0)),
        new("GetFieldValueAsync of a stream", "GetStream", static reader => reader.GetFieldValueAsync<Stream>(0)),
        new("IsDBNullAsync", "IsDBNull", static reader => reader.IsDBNullAsync(0)),
        new("GetSchemaTable", "GetSchemaTable", static reader => reader.GetSchemaTable()),
        new("GetSchemaTableAsync", "GetSchemaTable", static reader => reader.GetSchemaTableAsync()),
        new("GetColumnSchema", "GetColumnSchema", static reader => reader.GetColumnSchema()),
        new("GetColumnSchemaAsync", "GetColumnSchema", static reader => reader.GetColumnSchemaAsync()),
    ];

    /// <summary>What holds the session where a row may not be in memory.</summary>
    private static readonly Call[] OfUnbufferedRow =
    [
        new("get_Item", "Item", static reader => reader[0]),
        new("get_Item by name", "Item", static reader => reader["name"]),
        new("GetBoolean", "GetBoolean", static reader => reader.GetBoolean(0)),
        new("GetByte", "GetByte", static reader => reader.GetByte(0)),
        new("GetChar", "GetChar", static reader => reader.GetChar(0)),
        new("GetDateTime", "GetDateTime", static reader => reader.GetDateTime(0)),
        new("GetDecimal", "GetDecimal", static reader => reader.GetDecimal(0)),
        new("GetDouble", "GetDouble", static reader => reader.GetDouble(0)),
        new("GetFieldValue", "GetValue", static reader => reader.GetFieldValue<string>(0)),
        new("GetFloat", "GetFloat", static reader => reader.GetFloat(0)),
        new("GetGuid", "GetGuid", static reader => reader.GetGuid(0)),
        new("GetInt16", "GetInt16", static reader => reader.GetInt16(0)),
        new("GetInt32", "GetInt32", static reader => reader.GetInt32(0)),
        new("GetInt64", "GetInt64", static reader => reader.GetInt64(0)),
        new("GetProviderSpecificValue", "GetProviderSpecificValue", static reader => reader.GetProviderSpecificValue(0)),
        new("GetProviderSpecificValues", "GetProviderSpecificValues", static reader => reader.GetProviderSpecificValues([])),
        new("GetString", "GetString", static reader => reader.GetString(0)),
        new("GetValue", "GetValue", static reader => reader.GetValue(0)),
        new("GetValues", "GetValues", static reader => reader.GetValues([])),
        new("IsDBNull", "IsDBNull", static reader => reader.IsDBNull(0)),
        new("GetDbDataReader", "GetDbDataReader", static reader => reader.GetData(0)),
    ];

    /// <summary>What is known with the result, and <c>GetEnumerator</c>, which only makes an object.</summary>
    private static readonly string[] Others =
    [
        "get_Depth", "get_FieldCount", "get_HasRows", "get_IsClosed", "get_RecordsAffected", "get_VisibleFieldCount", "GetDataTypeName",
        "GetEnumerator", "GetFieldType", "GetName", "GetOrdinal", "GetProviderSpecificFieldType",
    ];

    public static TheoryData<string> NamesOfAnyRow => new(OfAnyRow.Select(static call => call.Name));

    public static TheoryData<string> NamesOfUnbufferedRow => new(OfUnbufferedRow.Select(static call => call.Name));

    [Theory]
    [MemberData(nameof(NamesOfAnyRow))]
    public async Task A_session_in_whose_reader_another_thread_is_goes_to_no_other_caller(string name)
    {
        Call call = Find(OfAnyRow, name);
        await AssertHoldsAsync(call, DbAdapter.Postgres, CommandBehavior.Default);
        await AssertHoldsUnbufferedAsync(call);
    }

    [Theory]
    [MemberData(nameof(NamesOfUnbufferedRow))]
    public async Task A_session_from_which_another_thread_reads_a_value_goes_to_no_other_caller(string name)
    {
        await AssertHoldsUnbufferedAsync(Find(OfUnbufferedRow, name));
    }

    /// <summary>It copies from the row: two locked operations would cost more than that.</summary>
    [Theory]
    [MemberData(nameof(NamesOfUnbufferedRow))]
    public async Task A_value_of_a_row_in_memory_costs_no_hold(string name)
    {
        Call call = Find(OfUnbufferedRow, name);
        Assert.Equal(1, await CountSessionsAsync(call, DbAdapter.Postgres, CommandBehavior.Default, isAsync: true));
    }

    [Fact]
    public void Each_member_of_a_reader_holds_the_session_or_need_not()
    {
        IEnumerable<string> known = OfAnyRow.Concat(OfUnbufferedRow).Select(static call => call.Member).Concat(Others);
        IEnumerable<string> members = typeof(DbDataReader)
            .GetMethods(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly)
            .Where(static method => method is { IsVirtual: true, IsFinal: false })
            .Select(static method => method.Name)
            .Append(nameof(IDbColumnSchemaGenerator.GetColumnSchema));
        Assert.Equal(members.Distinct().Order(StringComparer.Ordinal), known.Distinct().Order(StringComparer.Ordinal));
    }

    private static Call Find(Call[] calls, string name) => Array.Find(calls, call => call.Name == name)!;

    /// <summary>It holds the session where the row may not be in memory.</summary>
    private static async Task AssertHoldsUnbufferedAsync(Call call)
    {
        await AssertHoldsAsync(call, DbAdapter.Postgres, CommandBehavior.SequentialAccess);
        await AssertHoldsAsync(call, DbAdapter.Generic, CommandBehavior.Default);
    }

    private static async Task AssertHoldsAsync(Call call, DbAdapter adapter, CommandBehavior behavior)
    {
        foreach (bool isAsync in new[] { false, true })
        {
            int sessions = await CountSessionsAsync(call, adapter, behavior, isAsync);
            Assert.True(sessions == 2, $"{adapter.GetType().Name}, {behavior}, closed {(isAsync ? "by awaiting" : "by blocking")}");
        }
    }

    /// <summary>Closes a connection in the middle of a call, and opens the next one before the call ends.</summary>
    /// <returns>How many sessions that took.</returns>
    private static async Task<int> CountSessionsAsync(Call call, DbAdapter adapter, CommandBehavior behavior, bool isAsync)
    {
        var provider = new TwoDoorProvider { WaitIn = call.WaitsIn };
        await using var pool = new PooledDbDataSource(
            provider, "Server=nowhere", new PooledDbOptions { Adapter = adapter, Pool = new() { MaxSize = 1, RentTimeout = Sql.Limit } });
        PooledDbConnection connection = await pool.OpenConnectionAsync();
        DbConnection session = connection.Native;
        await using DbCommand command = connection.CreateCommand();
        DbDataReader reader = await command.ExecuteReaderAsync(behavior);
        Task reading = Task.Run(() => call.Run(reader) as Task ?? Task.CompletedTask);
        bool isShared;
        try
        {
            await provider.Waiting.WaitAsync(Sql.Limit);
            if (isAsync)
            {
                await connection.DisposeAsync().AsTask().WaitAsync(Sql.Limit);
            }
            else
            {
                connection.Dispose();
            }

            await using PooledDbConnection next = await pool.OpenConnectionAsync();
            isShared = ReferenceEquals(session, next.Native);
            Assert.False(reading.IsCompleted);
        }
        finally
        {
            provider.Answer();
        }

        await Record.ExceptionAsync(() => reading.WaitAsync(Sql.Limit)); // its connection is closed: it may say so
        Assert.True(reading.IsCompleted);
        pool.Settle();
        pool.Validate();
        ResourcePoolStatistics statistics = pool.GetStatistics();
        long sessions = isShared ? 1 : 2;
        Assert.Equal(
            (sessions, sessions - 1, 0, 1),
            (statistics.Created, statistics.GetDestroyed(DestroyReason.Broken), statistics.Leased, provider.Open));
        return (int)sessions;
    }

    private static object? Do(Action action)
    {
        action();
        return null;
    }

    /// <summary>A call of a reader.</summary>
    /// <param name="Name">The member, and which form of it.</param>
    /// <param name="WaitsIn">The provider's call in which it waits.</param>
    /// <param name="Run">Makes it; what it gives may be a task.</param>
    private sealed record Call(string Name, string WaitsIn, Func<DbDataReader, object?> Run)
    {
        internal string Member => Name.Split(' ')[0];
    }
}
