namespace Tidepool.Labs;

/// <summary>How a server is stopped.</summary>
internal enum PostgresStop
{
    /// <summary>Sessions are told (57P01) and disconnected; the data is consistent.</summary>
    Fast,

    /// <summary>Everything ends at once (57P02); the next start recovers.</summary>
    Immediate,
}
