using System.Collections.ObjectModel;
using System.Data;
using System.Data.Common;
using System.Globalization;
using Microsoft.Data.Sqlite;

namespace Tidepool.Data.Tests.Support;

/// <summary>Does one operation after the other on a connection, and says in text what came of each, errors included.</summary>
internal sealed class Actor : IDisposable
{
    private readonly DbConnection _connection;
    private readonly DbCommand?[] _commands = new DbCommand?[2];
    private readonly List<string> _events = [];
    private DbDataReader? _reader;
    private DbTransaction? _transaction;
    private DbBatch? _batch;

    private readonly bool _isRecycled;

    /// <param name="connection">The connection.</param>
    /// <param name="isRecycled">
    /// The provider uses its objects again, so that old ones do this and that: a transaction whose connection was closed, a reader that
    /// was disposed. The pooled ones say always that they are over, and that is another test.
    /// </param>
    internal Actor(DbConnection connection, bool isRecycled)
    {
        _connection = connection;
        _isRecycled = isRecycled;
        connection.StateChange += (_, e) => _events.Add($"{e.OriginalState}>{e.CurrentState}");
    }

    internal async Task<string> DoAsync(Operation operation)
    {
        string outcome;
        try
        {
            outcome = await RunAsync(operation);
        }
        catch (Exception e)
        {
            outcome = $"{e.GetType().FullName}: {e.Message} [{(e as DbException)?.SqlState}]";
        }

        string events = string.Join(',', _events);
        _events.Clear();
        if (_connection is SqliteConnection { State: ConnectionState.Closed })
        {
            Unprepare();
        }

        return $"{outcome} {events} {_connection.State}";
    }

    public void Dispose()
    {
        _reader?.Dispose();
        _transaction?.Dispose();
        foreach (DbCommand? command in _commands)
        {
            command?.Dispose();
        }

        _connection.Dispose();
    }

    /// <summary>
    /// A command of SQLite's provider that has outlived one close and was prepared since goes on with the file of the second close, and
    /// then says how many rows another file has changed. No pool should do so: such a command is prepared again here.
    /// </summary>
    private void Unprepare()
    {
        foreach (DbCommand? command in _commands)
        {
            if (command?.Connection is { } connection)
            {
                command.Connection = null;
                command.Connection = connection;
            }
        }
    }

    private static string Text(object? value) => value switch
    {
        null => "null",
        DBNull => "DBNull",
        byte[] bytes => Convert.ToHexString(bytes),
        _ => $"{value.GetType().Name} {Convert.ToString(value, CultureInfo.InvariantCulture)}",
    };

    private static string Row(DataTable? table) => table is null ? "null" : string.Join(
        '|', table.Rows.Cast<DataRow>().Select(row => string.Join(',', row.ItemArray.Select(Text))));

    private async Task<string> RunAsync(Operation o) => o.Kind switch
    {
        "open" or "close" or "dispose" or "state" or "describe" or "schema" => await RunOnConnectionAsync(o),
        "begin" or "commit" or "rollback" or "save" or "back" or "release" or "endtx" or "tx" => await RunOnTransactionAsync(o),
        "batch" or "runbatch" => await RunOnBatchAsync(o),
        _ when o.Kind.StartsWith('r') => await RunOnReaderAsync(o),
        _ => await RunOnCommandAsync(o),
    };

    private async Task<string> RunOnConnectionAsync(Operation o)
    {
        switch (o.Kind)
        {
            case "open":
                await Pick(o, _connection.Open, () => _connection.OpenAsync());
                return "ok";
            case "close":
                _transaction = _isRecycled ? null : _transaction;
                await Pick(o, _connection.Close, _connection.CloseAsync);
                return "ok";
            case "dispose":
                _transaction = _isRecycled ? null : _transaction;
                await Pick(o, _connection.Dispose, () => _connection.DisposeAsync().AsTask());
                return "ok";
            case "state":
                return _connection.State.ToString();
            case "describe":
                return $"{_connection.Database} {_connection.ConnectionTimeout} {_connection.CanCreateBatch} {_connection.ServerVersion}";
            default:
                DataTable table = o.IsAsync
                    ? await _connection.GetSchemaAsync("MetaDataCollections")
                    : _connection.GetSchema("MetaDataCollections");
                return Row(table);
        }
    }

    private async Task<string> RunOnTransactionAsync(Operation o)
    {
        switch (o.Kind)
        {
            case "begin":
                IsolationLevel level =
                    o.Number % 3 == 0 ? IsolationLevel.Unspecified : o.Number % 3 == 1 ? IsolationLevel.Serializable : IsolationLevel.Chaos;
                _transaction = o.IsAsync ? await _connection.BeginTransactionAsync(level) : _connection.BeginTransaction(level);
                return _transaction.IsolationLevel.ToString();
            case "tx" when _transaction is not null:
                return $"{_transaction.Connection is null} "
                    + $"{_transaction.Connection is not null && ReferenceEquals(_transaction.Connection, _connection)} "
                    + $"{_transaction.SupportsSavepoints} {_transaction.IsolationLevel}";
            case "endtx" when _transaction is not null:
                await Pick(o, _transaction.Dispose, () => _transaction.DisposeAsync().AsTask());
                return "ok";
            case "commit" when _transaction is not null:
                await Pick(o, _transaction.Commit, () => _transaction.CommitAsync());
                return "ok";
            case "rollback" when _transaction is not null:
                await Pick(o, _transaction.Rollback, () => _transaction.RollbackAsync());
                return "ok";
            case "save" when _transaction is not null:
                await Pick(o, () => _transaction.Save("s"), () => _transaction.SaveAsync("s"));
                return "ok";
            case "back" when _transaction is not null:
                await Pick(o, () => _transaction.Rollback("s"), () => _transaction.RollbackAsync("s"));
                return "ok";
            case "release" when _transaction is not null:
                await Pick(o, () => _transaction.Release("s"), () => _transaction.ReleaseAsync("s"));
                return "ok";
            default:
                return "nothing";
        }
    }

    private async Task<string> RunOnBatchAsync(Operation o)
    {
        if (o.Kind == "batch")
        {
            _batch = _connection.CreateBatch();
            _batch.Transaction = _transaction;
            foreach (string text in new[] { o.Text, "SELECT 7" })
            {
                DbBatchCommand command = _batch.CreateBatchCommand();
                command.CommandText = text;
                _batch.BatchCommands.Add(command);
            }

            return $"{_batch.Timeout} {ReferenceEquals(_batch.Connection, _connection)}";
        }

        if (_batch is null)
        {
            return "nothing";
        }

        switch (o.Number % 3)
        {
            case 0:
                return Text(o.IsAsync ? await _batch.ExecuteNonQueryAsync() : _batch.ExecuteNonQuery());
            case 1:
                return Text(o.IsAsync ? await _batch.ExecuteScalarAsync() : _batch.ExecuteScalar());
            default:
                _reader = o.IsAsync ? await _batch.ExecuteReaderAsync() : _batch.ExecuteReader();
                return "reader";
        }
    }

    private async Task<string> RunOnCommandAsync(Operation o)
    {
        int place = o.Number % 2;
        if (o.Kind == "command")
        {
            DbCommand slot = _connection.CreateCommand();
            _commands[place] = slot;
            slot.CommandText = o.Text;
            if (o.Text.Contains('@', StringComparison.Ordinal))
            {
                DbParameter parameter = slot.CreateParameter();
                (parameter.ParameterName, parameter.Value) = ("@p", o.Number);
                slot.Parameters.Add(parameter);
            }

            return $"{ReferenceEquals(slot.Connection, _connection)} {slot.Transaction is null} {slot.CommandTimeout} "
                + $"{slot.CommandType} {slot.UpdatedRowSource}";
        }

        if (_commands[place] is not { } command)
        {
            return "nothing";
        }

        switch (o.Kind)
        {
            case "text":
                command.CommandText = o.Text;
                return command.CommandText;
            case "settx":
                command.Transaction = _transaction;
                return $"{command.Transaction is null} {ReferenceEquals(command.Transaction, _transaction)}";
            case "unset":
                command.Connection = null;
                return Text(command.Connection);
            case "set":
                command.Connection = _connection;
                return ReferenceEquals(command.Connection, _connection).ToString();
            case "timeout":
                // Negative ones are refused; no short one, which a slow machine may need.
                command.CommandTimeout = o.Number < 3 ? o.Number - 3 : 100 + o.Number;
                return Text(command.CommandTimeout);
            case "prepare":
                await Pick(o, command.Prepare, () => command.PrepareAsync());
                return "ok";
            case "query":
                return Text(o.IsAsync ? await command.ExecuteNonQueryAsync() : command.ExecuteNonQuery());
            case "scalar":
                return Text(o.IsAsync ? await command.ExecuteScalarAsync() : command.ExecuteScalar());
            case "endcommand":
                await Pick(o, command.Dispose, () => command.DisposeAsync().AsTask());
                _commands[place] = null;
                return "ok";
            default:
                CommandBehavior[] behaviors =
                [
                    CommandBehavior.Default,
                    CommandBehavior.CloseConnection,
                    CommandBehavior.SingleRow,
                    CommandBehavior.SequentialAccess,
                    CommandBehavior.SchemaOnly,
                ];
                CommandBehavior behavior = behaviors[o.Number % behaviors.Length];
                _reader = o.IsAsync ? await command.ExecuteReaderAsync(behavior) : command.ExecuteReader(behavior);
                return "reader";
        }
    }

    private async Task<string> RunOnReaderAsync(Operation o)
    {
        if (_reader is not { } reader)
        {
            return "nothing";
        }

        int column = o.Number % 3;
        switch (o.Kind)
        {
            case "rread":
                return Text(o.IsAsync ? await reader.ReadAsync() : reader.Read());
            case "rnext":
                return Text(o.IsAsync ? await reader.NextResultAsync() : reader.NextResult());
            case "rvalue":
                return Text(reader.GetValue(column));
            case "rint":
                return Text(reader.GetInt32(column));
            case "rtext":
                return Text(reader.GetString(column));
            case "rfield":
                return Text(o.IsAsync ? await reader.GetFieldValueAsync<long>(column) : reader.GetFieldValue<long>(column));
            case "rnull":
                return Text(o.IsAsync ? await reader.IsDBNullAsync(column) : reader.IsDBNull(column));
            case "rmeta":
                return $"{reader.FieldCount} {reader.HasRows} {reader.GetName(0)} {reader.GetOrdinal("a")} "
                    + $"{reader.GetDataTypeName(0)} {reader.GetFieldType(0)} {reader.Depth} {reader.VisibleFieldCount}";
            case "rcount":
                return $"{reader.RecordsAffected} {reader.IsClosed}";
            case "rname":
                return Text(reader["a"]);
            case "rvalues":
                var values = new object[4];
                return $"{reader.GetValues(values)} {string.Join(',', values.Select(Text))}";
            case "rschema":
                return Row(o.IsAsync ? await reader.GetSchemaTableAsync() : reader.GetSchemaTable());
            case "rcolumns":
                ReadOnlyCollection<DbColumn> columns = o.IsAsync ? await reader.GetColumnSchemaAsync() : reader.GetColumnSchema();
                return string.Join(',', columns.Select(c => $"{c.ColumnName} {c.DataTypeName} {c.AllowDBNull}"));
            case "rall":
                return string.Join(',', reader.Cast<IDataRecord>().Take(5).Select(r => Text(r.GetValue(0))));
            case "rclose":
                await Pick(o, reader.Close, reader.CloseAsync);
                return "ok";
            default:
                _reader = _isRecycled ? null : reader;
                await Pick(o, reader.Dispose, () => reader.DisposeAsync().AsTask());
                return "ok";
        }
    }

    private static async Task Pick(Operation o, Action sync, Func<Task> async)
    {
        if (o.IsAsync)
        {
            await async();
        }
        else
        {
            sync();
        }
    }
}
