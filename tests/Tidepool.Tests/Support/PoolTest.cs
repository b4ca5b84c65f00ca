using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Tests.Support;

/// <summary>
/// The base of every test that rents: pools come from <see cref="NewPool{T}"/>, and at the end of the test each of them
/// must have got back what it gave out and must still hold its invariants. A test that leaks on purpose says so with
/// <see cref="Forgive"/>.
/// </summary>
public abstract class PoolTest : IDisposable
{
    private readonly List<Ledger> _ledgers = [];

    /// <summary>A pool of this test alone; checked and disposed at the end of the test.</summary>
    protected BufferPool<T> NewPool<T>(BufferPoolOptions<T>? options = null) => Watch(BufferPool<T>.Create(options));

    /// <summary>A pool made elsewhere that is to be checked and disposed at the end of the test.</summary>
    protected BufferPool<T> Watch<T>(BufferPool<T> pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        PoolStatistics before = pool.GetStatistics();
        _ledgers.Add(new Ledger(pool, pool.Name, before.Rented - before.Returned, pool.GetStatistics, pool.Validate, pool.Dispose));
        return pool;
    }

    /// <summary>An object pool that is to be checked and disposed at the end of the test.</summary>
    protected void Watch<T>(ObjectPool<T> pool)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(pool);
        _ledgers.Add(new Ledger(pool, pool.Name, pool.GetStatistics().Leased, pool.GetStatistics, pool.Validate, pool.Dispose));
    }

    /// <summary>The test leaves rentals of an object pool out on purpose.</summary>
    protected void Forgive<T>(ObjectPool<T> pool, long leases)
        where T : class => _ledgers.Single(l => ReferenceEquals(l.Pool, pool)).Forgiven += leases;

    /// <summary>The test leaves rentals out on purpose: <paramref name="leases"/> of them from <paramref name="pool"/>.</summary>
    protected void Forgive<T>(BufferPool<T> pool, long leases) => _ledgers.Single(l => ReferenceEquals(l.Pool, pool)).Forgiven += leases;

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    [SuppressMessage("Design", "CA1031", Justification = "Every pool is checked and disposed before the first failure is thrown.")]
    protected virtual void Dispose(bool disposing)
    {
        List<Exception> failures = [];
        foreach (Ledger ledger in _ledgers)
        {
            try
            {
                ledger.Close();
            }
            catch (Exception failure)
            {
                failures.Add(failure);
            }
        }

        _ledgers.Clear();
        if (failures.Count > 0)
        {
            throw new AggregateException(failures);
        }
    }

    private sealed class Ledger(object pool, string name, long before, Func<PoolStatistics> read, Action validate, Action dispose)
    {
        public object Pool { get; } = pool;

        public long Forgiven { get; set; }

        public void Close()
        {
            try
            {
                PoolStatistics now = read();
                long open = now.Rented - now.Returned - before - Forgiven;
                Assert.True(
                    open == 0,
                    $"Pool '{name}': {open} more rentals than returns at the end of the test (rented {now.Rented}, returned "
                        + $"{now.Returned}, left on purpose {Forgiven}).");
                validate();
            }
            finally
            {
                dispose();
            }
        }
    }
}
