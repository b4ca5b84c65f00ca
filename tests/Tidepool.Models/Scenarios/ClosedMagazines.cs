namespace Tidepool.Models.Scenarios;

/// <summary>The magazines that a model has closed, each once: in the real pool the gate lets in one closer.</summary>
internal sealed class ClosedMagazines
{
    private readonly HashSet<Magazine> _closed = [];

    /// <summary>Notes that the caller is about to close a magazine.</summary>
    /// <returns>False when it was closed before.</returns>
    internal bool TryAdd(Magazine magazine)
    {
        lock (_closed)
        {
            return _closed.Add(magazine);
        }
    }

    /// <summary>Refunds to the pool's budget what closing refunds in the real pool.</summary>
    /// <remarks>Magazines that still lie in a table are left out: they are refunded when their thread makes the next.</remarks>
    /// <param name="pool">The pool.</param>
    internal void Refund(TieredPool pool)
    {
        ThreadTier.ForEach(pool.Buckets(), magazine => _closed.Remove(magazine));
        foreach (Magazine magazine in _closed)
        {
            pool.Budget.Refund(magazine.Charge);
        }
    }
}
