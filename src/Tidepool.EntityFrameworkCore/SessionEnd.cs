using System.Diagnostics.CodeAnalysis;
using Microsoft.EntityFrameworkCore.Storage;

namespace Tidepool.Data;

/// <summary>
/// Gives the session of a context back when the context ends, before its connection is disposed. The container disposes in the reverse
/// order of making, and stops at the first exception: a logger that fails over the transaction of that connection would cost the session.
/// So one of these is made when the connection is there, at the first opening.
/// </summary>
[SuppressMessage("Performance", "CA1812", Justification = "Made by Entity Framework's container.")]
internal sealed class SessionEnd(IRelationalConnection connection, ContextSession session) : IDisposable, IAsyncDisposable
{
    public void Dispose()
    {
        try
        {
            connection.ResetState(); // as its own disposal does, with the same events
        }
        finally
        {
            session.ResetState();
        }
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            await connection.ResetStateAsync().ConfigureAwait(false);
        }
        finally
        {
            await session.ResetStateAsync().ConfigureAwait(false);
        }
    }
}
