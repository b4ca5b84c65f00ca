using System.Data;
using Dapper;

namespace Samples;

/// <summary>
/// Gives PostgreSQL an array as one parameter. Dapper does so by itself only when the connection's class is named NpgsqlConnection,
/// and otherwise writes a list of parameters into the text.
/// </summary>
public sealed class DapperArray<T> : SqlMapper.TypeHandler<T[]>
{
    public override void SetValue(IDbDataParameter parameter, T[]? value)
    {
        ArgumentNullException.ThrowIfNull(parameter);
        parameter.Value = (object?)value ?? DBNull.Value;
    }

    public override T[] Parse(object value) => (T[])value;
}
