using System.Diagnostics.CodeAnalysis;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>
/// Npgsql's own pool: a connection of a pooled data source is opened, not used for anything that travels, and closed, without the reset
/// of a session.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "It lives as long as the measuring process.")]
internal readonly struct NpgsqlSubject : IResourceSubject<NpgsqlSubject, NpgsqlConnection>
{
    private readonly NpgsqlDataSource _source;

    private NpgsqlSubject(NpgsqlDataSource source) => _source = source;

    /// <summary>The loop on the server of this run, or null in a run without.</summary>
    public static Loop? On(Func<Loop> loop) => LabServer.ConnectionString is null ? null : loop();

    /// <inheritdoc/>
    public static NpgsqlSubject Open(int size) =>
        Open(LabServer.ConnectionString ?? throw new InvalidOperationException($"There is no server: {LabServer.Missing}"), size);

    /// <summary>A full pool of that many connections to a server.</summary>
    public static NpgsqlSubject Open(string server, int size)
    {
        NpgsqlDataSource source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(server)
        {
            MaxPoolSize = size,
            NoResetOnClose = true,
            Timeout = 60,
        });
        NpgsqlConnection[] all = [.. Enumerable.Range(0, size).Select(_ => source.OpenConnection())];
        Array.ForEach(all, static connection => connection.Dispose());
        return new NpgsqlSubject(source);
    }

    /// <inheritdoc/>
    public NpgsqlConnection Rent() => _source.OpenConnection();

    /// <inheritdoc/>
    public ValueTask<NpgsqlConnection> RentAsync() => _source.OpenConnectionAsync();

    /// <inheritdoc/>
    public void Use(in NpgsqlConnection item) => _ = item.FullState;

    /// <inheritdoc/>
    public Thing Of(in NpgsqlConnection item) => throw new NotSupportedException("A connection carries no number of a turn.");

    /// <inheritdoc/>
    public void Return(in NpgsqlConnection item) => item.Dispose();
}
