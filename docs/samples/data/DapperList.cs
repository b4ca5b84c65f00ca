using System.Data;
using Dapper;

namespace Samples;

/// <summary>Gives PostgreSQL a list as one parameter, as <see cref="DapperArray{T}"/> does with an array.</summary>
public sealed class DapperList<T> : SqlMapper.TypeHandler<List<T>>
{
    public override void SetValue(IDbDataParameter parameter, List<T>? value)
    {
        ArgumentNullException.ThrowIfNull(parameter);
        parameter.Value = (object?)value ?? DBNull.Value;
    }

    public override List<T> Parse(object value) => [.. (T[])value];
}
