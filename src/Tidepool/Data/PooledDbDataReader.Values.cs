using System.Collections;
using System.Collections.ObjectModel;
using System.Data;
using System.Data.Common;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// Columns and values: the provider's. What is never small, or may ask the database by itself, holds the session; what only copies from a
/// row in memory does not, because that would cost more than the value.
/// </summary>
internal partial class PooledDbDataReader : IDbColumnSchemaGenerator
{
    private const DynamicallyAccessedMemberTypes FieldTypeMembers =
        DynamicallyAccessedMemberTypes.PublicFields | DynamicallyAccessedMemberTypes.PublicProperties;

    public override int Depth => Native.Depth;

    public override int FieldCount => Native.FieldCount;

    public override bool HasRows => Native.HasRows;

    public override int VisibleFieldCount => Native.VisibleFieldCount;

    public override object this[int ordinal] => Native[ordinal];

    public override object this[string name] => Native[name];

    public override bool GetBoolean(int ordinal) => Native.GetBoolean(ordinal);

    public override byte GetByte(int ordinal) => Native.GetByte(ordinal);

    public override long GetBytes(int ordinal, long dataOffset, byte[]? buffer, int bufferOffset, int length) =>
        Hold(
            static (native, at) => native.GetBytes(at.ordinal, at.dataOffset, at.buffer, at.bufferOffset, at.length),
            (ordinal, dataOffset, buffer, bufferOffset, length));

    public override char GetChar(int ordinal) => Native.GetChar(ordinal);

    public override long GetChars(int ordinal, long dataOffset, char[]? buffer, int bufferOffset, int length) =>
        Hold(
            static (native, at) => native.GetChars(at.ordinal, at.dataOffset, at.buffer, at.bufferOffset, at.length),
            (ordinal, dataOffset, buffer, bufferOffset, length));

    public override string GetDataTypeName(int ordinal) => Native.GetDataTypeName(ordinal);

    public override DateTime GetDateTime(int ordinal) => Native.GetDateTime(ordinal);

    public override decimal GetDecimal(int ordinal) => Native.GetDecimal(ordinal);

    public override double GetDouble(int ordinal) => Native.GetDouble(ordinal);

    public override IEnumerator GetEnumerator() => new DbEnumerator(this, closeReader: false);

    [return: DynamicallyAccessedMembers(FieldTypeMembers)]
    public override Type GetFieldType(int ordinal) => Native.GetFieldType(ordinal);

    public override T GetFieldValue<T>(int ordinal) =>
        IsColumn<T>() ? HoldFieldValue<T>(ordinal) : Native.GetFieldValue<T>(ordinal);

    public override Task<T> GetFieldValueAsync<T>(int ordinal, CancellationToken cancellationToken)
    {
        return IsColumn<T>()
            ? Watch(
                static (native, at) => Finish(at.reader, native.GetFieldValueAsync<T>(at.ordinal, at.cancellationToken)),
                (reader: this, ordinal, cancellationToken))
            : Watch(
                static (native, at) => native.GetFieldValueAsync<T>(at.ordinal, at.cancellationToken),
                (ordinal, cancellationToken));

        static async Task<T> Finish(PooledDbDataReader reader, Task<T> value) => reader.Give(await value.ConfigureAwait(false));
    }

    public override float GetFloat(int ordinal) => Native.GetFloat(ordinal);

    public override Guid GetGuid(int ordinal) => Native.GetGuid(ordinal);

    public override short GetInt16(int ordinal) => Native.GetInt16(ordinal);

    public override int GetInt32(int ordinal) => Native.GetInt32(ordinal);

    public override long GetInt64(int ordinal) => Native.GetInt64(ordinal);

    public override string GetName(int ordinal) => Native.GetName(ordinal);

    public override int GetOrdinal(string name) => Native.GetOrdinal(name);

    [return: DynamicallyAccessedMembers(FieldTypeMembers)]
    public override Type GetProviderSpecificFieldType(int ordinal) => Native.GetProviderSpecificFieldType(ordinal);

    public override object GetProviderSpecificValue(int ordinal) => Native.GetProviderSpecificValue(ordinal);

    public override int GetProviderSpecificValues(object[] values) => Native.GetProviderSpecificValues(values);

    public override DataTable? GetSchemaTable() => Hold(static (native, _) => native.GetSchemaTable(), 0);

    public override Task<DataTable?> GetSchemaTableAsync(CancellationToken cancellationToken = default) =>
        Watch(static (native, cancellation) => native.GetSchemaTableAsync(cancellation), cancellationToken);

    public ReadOnlyCollection<DbColumn> GetColumnSchema() => Hold(static (native, _) => native.GetColumnSchema(), 0);

    public override Task<ReadOnlyCollection<DbColumn>> GetColumnSchemaAsync(CancellationToken cancellationToken = default) =>
        Watch(static (native, cancellation) => native.GetColumnSchemaAsync(cancellation), cancellationToken);

    public override Stream GetStream(int ordinal) =>
        Hold(static (native, at) => at.reader.Give(native.GetStream(at.ordinal)), (reader: this, ordinal));

    public override string GetString(int ordinal) => Native.GetString(ordinal);

    public override TextReader GetTextReader(int ordinal) =>
        Hold(static (native, at) => at.reader.Give(native.GetTextReader(at.ordinal)), (reader: this, ordinal));

    public override object GetValue(int ordinal) => Native.GetValue(ordinal);

    public override int GetValues(object[] values) => Native.GetValues(values);

    public override bool IsDBNull(int ordinal) => Native.IsDBNull(ordinal);

    public override Task<bool> IsDBNullAsync(int ordinal, CancellationToken cancellationToken) =>
        Watch(static (native, at) => native.IsDBNullAsync(at.ordinal, at.cancellationToken), (ordinal, cancellationToken));

    /// <summary>Forgets a column that was read to its end: the end of the session's use need not close it.</summary>
    internal void Unregister(IDisposable native) => _connection.Remove(native);

    protected override DbDataReader GetDbDataReader(int ordinal) => Native.GetData(ordinal);

    private protected T HoldFieldValue<T>(int ordinal) =>
        Hold(static (native, at) => at.reader.Give(native.GetFieldValue<T>(at.ordinal)), (reader: this, ordinal));

    /// <summary>Whether the value reads its column bit by bit.</summary>
    private static bool IsColumn<T>() => typeof(T) == typeof(Stream) || typeof(T) == typeof(TextReader);

    /// <summary>
    /// What reads a column bit by bit is cut from the session when its use ends; any other value is given as it is. The session is held
    /// meanwhile: a close that sees no thread inside would miss the column.
    /// </summary>
    private T Give<T>(T value)
    {
        if (!IsColumn<T>())
        {
            return value;
        }

        if (value is MemoryStream or StringReader && !_adapter.RecyclesObjects)
        {
            return value;
        }

        if (!_adapter.RecyclesObjects)
        {
            _connection.Add((IDisposable)value!);
        }

        return value is Stream stream
            ? (T)(object)new PooledDbStream(this, stream)
            : (T)(object)new PooledDbTextReader(this, (TextReader)(object)value!);
    }
}
