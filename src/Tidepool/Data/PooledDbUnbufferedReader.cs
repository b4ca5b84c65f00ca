using System.Data.Common;

namespace Tidepool.Data;

/// <summary>
/// A reader whose rows may not be in memory: a value, or a longer one before it, may still have to come from the server. So each value is
/// an operation that holds the session.
/// </summary>
internal sealed class PooledDbUnbufferedReader(
    PooledDbConnection connection, DbSession session, DbDataReader native, DbAdapter adapter, bool closesConnection)
    : PooledDbDataReader(connection, session, native, adapter, closesConnection)
{
    public override object this[int ordinal] => Hold(static (native, at) => native[at], ordinal);

    public override object this[string name] => Hold(static (native, at) => native[at], name);

    public override bool GetBoolean(int ordinal) => Hold(static (native, at) => native.GetBoolean(at), ordinal);

    public override byte GetByte(int ordinal) => Hold(static (native, at) => native.GetByte(at), ordinal);

    public override char GetChar(int ordinal) => Hold(static (native, at) => native.GetChar(at), ordinal);

    public override DateTime GetDateTime(int ordinal) => Hold(static (native, at) => native.GetDateTime(at), ordinal);

    public override decimal GetDecimal(int ordinal) => Hold(static (native, at) => native.GetDecimal(at), ordinal);

    public override double GetDouble(int ordinal) => Hold(static (native, at) => native.GetDouble(at), ordinal);

    public override T GetFieldValue<T>(int ordinal) => HoldFieldValue<T>(ordinal);

    public override float GetFloat(int ordinal) => Hold(static (native, at) => native.GetFloat(at), ordinal);

    public override Guid GetGuid(int ordinal) => Hold(static (native, at) => native.GetGuid(at), ordinal);

    public override short GetInt16(int ordinal) => Hold(static (native, at) => native.GetInt16(at), ordinal);

    public override int GetInt32(int ordinal) => Hold(static (native, at) => native.GetInt32(at), ordinal);

    public override long GetInt64(int ordinal) => Hold(static (native, at) => native.GetInt64(at), ordinal);

    public override object GetProviderSpecificValue(int ordinal) =>
        Hold(static (native, at) => native.GetProviderSpecificValue(at), ordinal);

    public override int GetProviderSpecificValues(object[] values) =>
        Hold(static (native, all) => native.GetProviderSpecificValues(all), values);

    public override string GetString(int ordinal) => Hold(static (native, at) => native.GetString(at), ordinal);

    public override object GetValue(int ordinal) => Hold(static (native, at) => native.GetValue(at), ordinal);

    public override int GetValues(object[] values) => Hold(static (native, all) => native.GetValues(all), values);

    public override bool IsDBNull(int ordinal) => Hold(static (native, at) => native.IsDBNull(at), ordinal);

    protected override DbDataReader GetDbDataReader(int ordinal) => Hold(static (native, at) => native.GetData(at), ordinal);
}
