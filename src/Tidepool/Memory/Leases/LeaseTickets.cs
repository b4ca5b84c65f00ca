namespace Tidepool;

/// <summary>What the lease scopes share.</summary>
internal static class LeaseTickets
{
    internal static Ticket Of<T>(BufferLease<T> lease)
    {
        if (!lease.IsActive)
        {
            throw Retired($"BufferLease<{TypeName.Of<T>()}>");
        }

        return new Ticket(lease.Slot!, lease.Generation, lease.Length);
    }

    internal static Ticket Of<T>(ObjectLease<T> lease)
        where T : class
    {
        if (!lease.IsActive)
        {
            throw Retired($"ObjectLease<{TypeName.Of<T>()}>");
        }

        return new Ticket(lease.Slot!, lease.Generation, 0);
    }

    internal static void DisposeAll(List<Ticket> tickets)
    {
        List<Exception>? failures = null;
        while (tickets.Count > 0)
        {
            Ticket ticket = tickets[^1];
            tickets.RemoveAt(tickets.Count - 1);
            try
            {
                ticket.Dispose();
            }
            catch (Exception e)
            {
                (failures ??= []).Add(e);
            }
        }

        Throw(failures);
    }

    private static ObjectDisposedException Retired(string lease) =>
        new(lease, "The lease was returned before, or is default; a scope takes leases that are out.");

    internal static void Throw(List<Exception>? failures)
    {
        if (failures is not null)
        {
            throw new AggregateException("Some leases of the scope could not be returned.", failures);
        }
    }
}
