using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

/// <summary>
/// What a renter may see of earlier renters, for every pair of ways to rent, every option that clears, and every kind of element.
/// </summary>
public sealed class ClearingOfBytes : ClearingConformance<byte>;

/// <inheritdoc cref="ClearingOfBytes"/>
public sealed class ClearingOfNumbers : ClearingConformance<int>;

/// <inheritdoc cref="ClearingOfBytes"/>
public sealed class ClearingOfStructs : ClearingConformance<Triple>;

/// <inheritdoc cref="ClearingOfBytes"/>
public sealed class ClearingOfStructsWithReferences : ClearingConformance<Named>;

/// <inheritdoc cref="ClearingOfBytes"/>
public sealed class ClearingOfReferences : ClearingConformance<string>;

/// <inheritdoc cref="ClearingOfBytes"/>
public abstract class ClearingConformance<T> : PoolTest
{
    private const int Dirtied = 100; // shares its buffers with the longer rentals that look at them
    private const int Few = 20;      // more than a thread keeps, so that some go through the shared tier
    private const int Many = 80;     // and more than rest in quarantine

    private readonly EqualityComparer<T> _equality = EqualityComparer<T>.Default;

    public static TheoryData<ClearMode, bool, PoolChecks> PoolsThatClear => new()
    {
        { ClearMode.OnReturn, false, PoolChecks.Default },
        { ClearMode.OnRent, false, PoolChecks.Default },
        { ClearMode.Never, true, PoolChecks.Default },
        { ClearMode.OnReturn, false, PoolChecks.Off },
        { ClearMode.OnRent, false, PoolChecks.Off },
        { ClearMode.Never, true, PoolChecks.Off },
        { ClearMode.OnRent, true, PoolChecks.Off },
        { ClearMode.OnReturn, false, PoolChecks.Full },
        { ClearMode.OnRent, false, PoolChecks.Full },
        { ClearMode.Never, true, PoolChecks.Full },
    };

    [Theory]
    [MemberData(nameof(PoolsThatClear))]
    public void A_pool_that_clears_shows_nothing_of_an_earlier_renter_in_all_that_can_be_reached(
        ClearMode clear, bool secrets, PoolChecks checks)
    {
        int met = 0;
        ForEachPair(() => new() { Clear = clear, Secrets = secrets, Checks = checks }, (pool, before, after, text) =>
        {
            var dirty = new HashSet<T[]>(ReferenceEqualityComparer.Instance);
            int count = checks == PoolChecks.Full ? Many : Few;
            RunNested(before, pool, Dirtied, count, (_, reachable) => Soil(reachable, dirty));
            RunNested(after, pool, 112, count, (_, reachable) =>
            {
                met += dirty.Contains(ArrayOf(reachable)) ? 1 : 0;
                int place = FindDirt(reachable.Span);
                Assert.True(place < 0, $"{text}: element {place} of {reachable.Length} shows what an earlier renter wrote.");
            });
        });
        Assert.True(met > 100, $"Only {met} of the buffers were rented again.");
    }

    [Theory]
    [InlineData(ClearMode.OnReturn, false)]
    [InlineData(ClearMode.OnRent, false)]
    [InlineData(ClearMode.Never, true)]
    public void A_pool_that_clears_shows_nothing_of_what_its_source_left_in_a_new_buffer(ClearMode clear, bool secrets)
    {
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            return; // a source hands these out cleared
        }

        using ParkedThread other = new();
        foreach (RentalWay<T> way in RentalWay<T>.All(other).Where(static w => !w.NeedsPlainPool))
        {
            foreach (int kept in (int[])[Array.MaxLength, 16])
            {
                BufferPool<T> pool = NewPool<T>(
                    new() { Source = new DirtySource<T>(), Clear = clear, Secrets = secrets, MaxLength = kept });
                way.Run(pool, Dirtied, (_, reachable) => Assert.True(FindDirt(reachable.Span) < 0, $"{way.Name}, keeps up to {kept}"));
            }
        }
    }

    [Fact]
    public void A_pool_that_never_clears_still_clears_what_the_renter_asks_for()
    {
        int met = 0;
        ForEachPair(static () => new() { Checks = PoolChecks.Default }, (pool, before, after, text) =>
        {
            if (!before.ClearsOnReturn && !after.ClearsOnRent)
            {
                return;
            }

            var dirty = new HashSet<T[]>(ReferenceEqualityComparer.Instance);
            RunNested(before, pool, Dirtied, Few, (_, reachable) => Soil(reachable, dirty));
            RunNested(after, pool, 112, Few, (rented, reachable) =>
            {
                bool again = dirty.Contains(ArrayOf(reachable));
                met += again ? 1 : 0;
                int place = FindDirt(after.ClearsOnRent ? rented.Span : again ? reachable.Span : default);
                Assert.True(place < 0, $"{text}: element {place} of {reachable.Length} shows what an earlier renter wrote.");
            });
        });
        Assert.True(met > 20, $"Only {met} of the buffers were rented again.");
    }

    [Fact]
    public void The_rented_elements_of_leases_and_scopes_that_hold_references_are_cleared_on_return_by_every_pool()
    {
        if (!RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            return;
        }

        using ParkedThread other = new();
        foreach (RentalWay<T> way in RentalWay<T>.All(other).Where(static w => !w.IsRaw && w.Name != "detached lease"))
        {
            BufferPool<T> pool = NewPool<T>(new() { Checks = PoolChecks.Default });
            var dirty = new HashSet<T[]>(ReferenceEqualityComparer.Instance);
            RunNested(way, pool, Dirtied, Few, (_, reachable) => Soil(reachable, dirty));
            RunNested(RentalWay<T>.All(other)[0], pool, Dirtied, Few, static (_, _) => { }); // settles what was posted
            Assert.Equal(Few, dirty.Count);
            Assert.All(dirty, array => Assert.True(FindDirt(array.AsSpan(0, Dirtied)) < 0, way.Name));
        }
    }

    [Fact]
    public void A_pool_that_clears_has_no_thread_handle()
    {
        BufferPool<T> pool = NewPool<T>(new() { Clear = ClearMode.OnReturn });
        Assert.Throws<NotSupportedException>(() => pool.GetThreadHandle(Dirtied).Dispose());
    }

    /// <summary>Runs a test for each pair of ways, each on a pool of its own.</summary>
    private static void ForEachPair(Func<BufferPoolOptions<T>> options, Action<BufferPool<T>, RentalWay<T>, RentalWay<T>, string> test)
    {
        using ParkedThread other = new();
        RentalWay<T>[] ways = RentalWay<T>.All(other);
        foreach (RentalWay<T> before in ways)
        {
            foreach (RentalWay<T> after in ways)
            {
                BufferPoolOptions<T> chosen = options();
                bool isPlain = chosen is { Clear: ClearMode.Never, Secrets: false, Checks: not PoolChecks.Full };
                if (!isPlain && (before.NeedsPlainPool || after.NeedsPlainPool))
                {
                    continue;
                }

                // Full checks rent many more for each pair: one of the two is a plain lease there.
                if (chosen.Checks == PoolChecks.Full && before != ways[0] && after != ways[0])
                {
                    continue;
                }

                using BufferPool<T> pool = BufferPool<T>.Create(chosen);
                test(pool, before, after, $"{before.Name}, then {after.Name}");
                pool.Validate();
                Assert.Equal(0, pool.GetStatistics().Leased);
            }
        }
    }

    /// <summary>Rents so many at the same time: each rental goes on while the next ones do.</summary>
    private static void RunNested(RentalWay<T> way, BufferPool<T> pool, int length, int count, Visit<T> visit) =>
        way.Run(pool, length, (rented, reachable) =>
        {
            visit(rented, reachable);
            if (count > 1)
            {
                RunNested(way, pool, length, count - 1, visit);
            }
        });

    private static void Soil(Memory<T> reachable, HashSet<T[]> dirty)
    {
        reachable.Span.Fill(Sample.Of<T>(dirty.Count));
        dirty.Add(ArrayOf(reachable));
    }

    private static T[] ArrayOf(Memory<T> memory) => MemoryMarshal.TryGetArray<T>(memory, out ArraySegment<T> segment) ? segment.Array! : [];

    private int FindDirt(ReadOnlySpan<T> span)
    {
        for (int i = 0; i < span.Length; i++)
        {
            if (!_equality.Equals(span[i], default))
            {
                return i;
            }
        }

        return -1;
    }
}
