using System.Runtime.CompilerServices;

namespace Tidepool.Native.Tests.Misuse;

/// <summary>
/// The base of the misuse tests: a pool of native memory in one mode, and the check that each ends with: no memory has two renters,
/// whatever was done before, and the library's own structures are whole.
/// </summary>
public abstract class NativeMisuseTest : PoolTest
{
    private BufferPool<int>? _pool;

    /// <summary>The mode of the pool.</summary>
    protected virtual PoolChecks Mode => PoolChecks.Default;

    /// <summary>The pool; made at its first use, because a test that is skipped has no library.</summary>
    protected BufferPool<int> Pool =>
        _pool ??= NewPool<int>(new() { Name = GetType().Name, Source = NativeSource<int>.Instance, Checks = Mode });

    protected long Count(MisuseKind kind) => Pool.GetStatistics().GetMisuse(kind);

    protected void AssertNoTwoRenters(int length = 100)
    {
        List<BufferLease<int>> leases = [];
        for (int i = 0; i < 150; i++)
        {
            leases.Add(Pool.Rent(length));
            leases[i].Span.Fill(i);
        }

        Threads.Run(() =>
        {
            for (int i = 150; i < 200; i++)
            {
                leases.Add(Pool.Rent(length));
                leases[i].Span.Fill(i);
            }
        });
        for (int i = 0; i < leases.Count; i++)
        {
            Assert.True(leases[i].Span.IndexOfAnyExcept(i) < 0, $"Buffer {i} has a second renter.");
        }

        leases.ForEach(l => l.Return());
        Pool.Validate();
        Assert.True(NativeSlabs.IsValid());
        Assert.True(NativeMethods.tp_is_valid());
    }

    /// <summary>In a frame of its own, so that nothing keeps the leases.</summary>
    /// <returns>The native bytes that lived beside the last of them.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected long RentAndDrop(int count, int length)
    {
        var leases = new BufferLease<int>[count];
        for (int i = 0; i < count; i++)
        {
            leases[i] = Pool.Rent(length);
            leases[i].Span.Fill(i);
        }

        long live = NativePressure.Live;
        GC.KeepAlive(leases);
        return live;
    }
}
