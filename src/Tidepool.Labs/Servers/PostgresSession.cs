namespace Tidepool.Labs;

/// <summary>A client's session as the server lists it.</summary>
/// <param name="Process">The number of the server process that serves it.</param>
/// <param name="Application">The client's <c>application_name</c>.</param>
/// <param name="State">What it does: active, idle, idle in transaction.</param>
/// <param name="Query">The statement that runs, or ran last.</param>
/// <param name="Started">When it was opened.</param>
internal sealed record PostgresSession(int Process, string Application, string State, string Query, DateTimeOffset Started);
