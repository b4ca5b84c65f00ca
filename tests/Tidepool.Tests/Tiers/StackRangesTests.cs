using System.Runtime.InteropServices;

namespace Tidepool.Tests.Tiers;

public sealed unsafe class StackRangesTests : IDisposable
{
    private const nuint Base = 1 << 30;

    private readonly StackRanges _ranges = new();
    private readonly List<nint> _cells = [];

    [Fact]
    public void Ranges_that_touch_do_not_overlap()
    {
        nuint*[] cells = [NewCell(), NewCell(), NewCell()];
        Assert.True(_ranges.TryAdd(cells[0], At(10), 10));
        Assert.True(_ranges.TryAdd(cells[1], At(30), 10));
        Assert.True(_ranges.TryAdd(cells[2], At(20), 10));
        Assert.Equal(At(10), *cells[0]);
        Assert.Equal(At(30), *cells[1]);
        Assert.Equal(At(20), *cells[2]);
        Assert.Equal(3, _ranges.Count);
    }

    [Theory]
    [InlineData(15, 2)]
    [InlineData(5, 6)]
    [InlineData(19, 20)]
    [InlineData(5, 50)]
    [InlineData(10, 10)]
    public void Of_ranges_that_overlap_none_counts(uint low, uint size)
    {
        nuint* first = NewCell(), second = NewCell();
        Assert.True(_ranges.TryAdd(first, At(10), 10));
        Assert.False(_ranges.TryAdd(second, At(low), size));
        Assert.Equal(StackIdentity.Withdrawn, *first);
        Assert.Equal(0u, *second);
        Assert.Equal(0, _ranges.Count);
    }

    [Fact]
    public void A_range_over_several_withdraws_them_all_and_no_other()
    {
        nuint*[] cells = [NewCell(), NewCell(), NewCell(), NewCell()];
        for (int i = 0; i < cells.Length; i++)
        {
            Assert.True(_ranges.TryAdd(cells[i], At((uint)(10 * i)), 10));
        }

        Assert.False(_ranges.TryAdd(NewCell(), At(15), 10));
        Assert.Equal(At(0), *cells[0]);
        Assert.Equal(StackIdentity.Withdrawn, *cells[1]);
        Assert.Equal(StackIdentity.Withdrawn, *cells[2]);
        Assert.Equal(At(30), *cells[3]);
    }

    [Fact]
    public void The_range_of_an_ended_thread_is_in_nobodys_way()
    {
        nuint* ended = NewCell(), next = NewCell();
        Assert.True(_ranges.TryAdd(ended, At(10), 10));
        *ended = 7; // the time of death
        Assert.True(_ranges.TryAdd(next, At(15), 10));
        Assert.Equal(7u, *ended);
        Assert.Equal(At(15), *next);
        _ranges.Remove(ended, At(10));
        Assert.Equal(1, _ranges.Count);
        _ranges.Remove(next, At(15));
        Assert.Equal(0, _ranges.Count);
    }

    [Fact]
    public void Whatever_comes_and_goes_live_ranges_never_overlap()
    {
        var random = new Random(4711);
        var live = new Dictionary<nint, (uint Low, uint Size)>();
        for (int step = 0; step < 20_000; step++)
        {
            if (live.Count > 0 && random.Next(3) == 0)
            {
                nint gone = live.Keys.ElementAt(random.Next(live.Count));
                *(nuint*)gone = 7;
                if (random.Next(2) == 0)
                {
                    _ranges.Remove((nuint*)gone, At(live[gone].Low));
                }

                live.Remove(gone);
                continue;
            }

            nuint* cell = NewCell();
            uint low = (uint)random.Next(1000), size = (uint)random.Next(1, 30);
            var hit = live.Where(l => l.Value.Low < low + size && low < l.Value.Low + l.Value.Size).Select(static l => l.Key).ToList();
            Assert.Equal(hit.Count == 0, _ranges.TryAdd(cell, At(low), size));
            foreach (nint withdrawn in hit)
            {
                Assert.Equal(StackIdentity.Withdrawn, *(nuint*)withdrawn);
                live.Remove(withdrawn);
            }

            if (hit.Count == 0)
            {
                live.Add((nint)cell, (low, size));
            }

            Assert.All(live, static l => Assert.Equal(At(l.Value.Low), *(nuint*)l.Key));
        }
    }

    public void Dispose() => _cells.ForEach(static cell => NativeMemory.Free((void*)cell));

    private static nuint At(uint offset) => Base + offset;

    private nuint* NewCell()
    {
        var cell = (nuint*)NativeMemory.AllocZeroed(64);
        _cells.Add((nint)cell);
        return cell;
    }
}
