using System.Text;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Objects;

public sealed class ObjectPolicyTests : PoolTest
{
    [Fact]
    public void Objects_with_a_constructor_need_no_function()
    {
        using var pool = new SimpleObjectPool<Plain>();
        Plain item = pool.RentRaw();
        item.Text = "kept as it is";
        pool.ReturnRaw(item);
        Assert.Same(item, pool.RentRaw());
        Assert.Equal("kept as it is", item.Text);
    }

    [Fact]
    public void Resettable_objects_are_reset_and_those_that_refuse_are_disposed()
    {
        using var simple = new SimpleObjectPool<Resettable>();
        using ObjectPool<Resettable> made = ObjectPool<Resettable>.Create(static () => new Resettable());
        foreach (ObjectPool<Resettable> pool in (ObjectPool<Resettable>[])[simple, made])
        {
            ObjectLease<Resettable> lease = pool.Rent();
            Resettable item = lease.Value;
            item.Count = 3;
            lease.Return();
            Assert.Equal(0, item.Count);
            using ObjectLease<Resettable> again = pool.Rent();
            Assert.Same(item, again.Value);
            item.Count = -1;
            again.Return();
            Assert.True(item.IsDisposed);
        }
    }

    [Fact]
    public void A_stream_of_the_library_is_resettable()
    {
        using ObjectPool<PooledMemoryStream> pool = ObjectPool<PooledMemoryStream>.Create(static () => new PooledMemoryStream());
        PooledMemoryStream stream;
        using (ObjectLease<PooledMemoryStream> lease = pool.Rent())
        {
            stream = lease.Value;
            stream.Write([1, 2, 3]);
        }

        Assert.Equal(0, stream.Length);
        using (ObjectLease<PooledMemoryStream> lease = pool.Rent())
        {
            Assert.Same(stream, lease.Value);
            stream.Dispose();
        }

        Assert.Equal((1, 0), (pool.GetStatistics().Refused, pool.GetStatistics().Idle));
    }

    [Fact]
    public void Idle_objects_that_are_not_valid_any_more_are_replaced()
    {
        var calls = new Calls();
        using var pool = new ObjectPool<Plain, Validating>(new Validating(calls));
        List<ObjectLease<Plain>> leases = [pool.Rent(), pool.Rent(), pool.Rent()];
        List<Plain> items = [.. leases.Select(l => l.Value)];
        leases.ForEach(l => l.Return());
        items[1].Text = "bad";
        items[2].Text = "throws";
        Assert.Equal(0, calls.Validations); // new ones are not asked for
        using (ObjectLease<Plain> lease = pool.Rent())
        {
            Assert.Same(items[0], lease.Value);
        }

        Assert.Equal((3, 2), (calls.Validations, calls.Destructions));
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((2, 1, 1), (statistics.Refused, statistics.Failures, statistics.Idle));
        Assert.Equal((4, 4, 3), (statistics.Rented, statistics.Returned, statistics.Missed));

        Plain raw = pool.RentRaw();
        pool.ReturnRaw(raw);
        raw.Text = "bad";
        Plain other = pool.RentRaw();
        Assert.NotSame(raw, other);
        pool.ReturnRaw(other);
        Assert.Equal(0, pool.GetStatistics().Leased);
        pool.Validate();
    }

    [Fact]
    public void A_builder_comes_back_empty_and_one_that_has_grown_too_long_is_given_up()
    {
        using var pool = new StringBuilderPool(maxRetainedCapacity: 1000);
        StringBuilder small, large;
        using (ObjectLease<StringBuilder> lease = pool.Rent())
        {
            small = lease.Value;
            small.Append('x', 500);
        }

        Assert.Equal(0, small.Length);
        using (ObjectLease<StringBuilder> lease = pool.Rent())
        {
            large = lease.Value;
            Assert.Same(small, large);
            large.Append('x', 5000);
        }

        using (ObjectLease<StringBuilder> lease = pool.Rent())
        {
            Assert.NotSame(large, lease.Value);
            Assert.InRange(lease.Value.Capacity, 16, 1000);
        }

        Assert.Equal(1, pool.GetStatistics().Refused);
        Assert.Equal(StringBuilderPolicy.DefaultMaxRetainedCapacity, default(StringBuilderPolicy).MaxRetainedCapacity);
        Assert.Throws<ArgumentOutOfRangeException>("maxRetainedCapacity", () => new StringBuilderPool(15));
        Assert.Throws<ArgumentNullException>("item", () => default(StringBuilderPolicy).TryReset(null!));
    }

    [Fact]
    public void A_factory_needs_a_function() => Assert.Throws<ArgumentNullException>("create", () => ObjectPool<Plain>.Create(null!));

    private sealed class Plain
    {
        public string? Text { get; set; }
    }

    private sealed class Resettable : IResettable, IDisposable
    {
        public int Count { get; set; }

        public bool IsDisposed { get; private set; }

        public bool TryReset()
        {
            bool isFit = Count >= 0;
            Count = 0;
            return isFit;
        }

        public void Dispose() => IsDisposed = true;
    }

    private sealed class Calls
    {
        public int Validations { get; set; }

        public int Destructions { get; set; }
    }

    private readonly struct Validating(Calls calls) : IValidatingObjectPolicy<Plain>
    {
        public Plain Create() => new();

        public bool TryReset(Plain item) => true;

        public bool Validate(Plain item)
        {
            calls.Validations++;
            return item.Text == "throws" ? throw new TimeoutException() : item.Text != "bad";
        }

        public void Destroy(Plain item) => calls.Destructions++;
    }
}
