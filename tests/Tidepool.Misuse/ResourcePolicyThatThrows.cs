using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourcePolicyThatThrows : ResourceMisuseTest
{
    public static TheoryData<string, DestroyReason> Callbacks => new()
    {
        { "IsBroken", DestroyReason.Broken },
        { "ValidateAsync", DestroyReason.ValidationFailed },
        { "Validate", DestroyReason.ValidationFailed },
        { "ResetAsync", DestroyReason.ResetFailed },
        { "Reset", DestroyReason.ResetFailed },
        { "KeepAliveAsync", DestroyReason.KeepAliveFailed },
    };

    [Theory]
    [MemberData(nameof(Callbacks))]
    public void A_look_that_throws_ends_its_resource_is_reported_and_reaches_nobody(string callback, DestroyReason reason)
    {
        using var events = new Events();
        ResourcePool<FakeResource> pool = NewPool(
            Options(max: 1, keepAlive: 5000, reset: callback == "Reset" ? ResetMode.OnReturn : ResetMode.Background));
        Rent(pool).Dispose();
        FakeResource first = Policy.Made.Single();
        bool Throws(FakeResource r, string here) => r == first && here == callback ? throw new InvalidDataException("as asked") : true;
        Policy.Broken = r => !Throws(r, "IsBroken");
        Policy.OnValidate = (r, _) => new(Throws(r, "ValidateAsync"));
        Policy.OnValidateHere = r => Throws(r, "Validate");
        Policy.OnReset = (r, _) => new(Throws(r, "ResetAsync"));
        Policy.OnResetHere = r => Throws(r, "Reset");
        Policy.OnKeepAlive = (r, _) => Throws(r, "KeepAliveAsync") ? default : default;
        Time.Advance(callback == "KeepAliveAsync" ? 5000 : 2000);
        (callback == "Validate" ? pool.Rent(Second) : Rent(pool)).Dispose();
        Rent(pool).Dispose();
        Assert.Equal((first, reason), Policy.Destroyed.Single());
        Assert.Equal(
            (callback, 1),
            ((string)events.Of("PolicyFailed", pool.Name)[0].Payload![0]!, events.Of("PolicyFailed", pool.Name).Count));
        AssertOneRenterEach(pool);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_creation_that_throws_or_gives_nothing_reaches_the_renter_that_waited_for_it(bool givesNothing)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Policy.CreateError = givesNothing ? null : new InvalidDataException("as asked");
        Policy.OnCreateHere = _ => givesNothing ? null! : Policy.Make();
        ResourceCreateException failure = Assert.Throws<ResourceCreateException>(() => pool.Rent(Second));
        Assert.IsType(givesNothing ? typeof(InvalidOperationException) : typeof(InvalidDataException), failure.InnerException);
        Assert.Equal((1L, 0), (pool.GetStatistics().CreateFailures, pool.GetStatistics().Total));
        Policy.CreateError = null;
        Policy.OnCreateHere = null;
        Time.Advance(1000);
        AssertOneRenterEach(pool);
    }

    [Fact]
    public void An_end_that_throws_is_counted_and_its_place_is_free()
    {
        using var events = new Events();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Policy.OnDestroy = static _ => throw new InvalidDataException("as asked");
        ResourceLease<FakeResource> lease = Rent(pool);
        lease.MarkBroken();
        lease.Dispose();
        Assert.Equal((0, 1L), (pool.GetStatistics().Total, pool.GetStatistics().DestroyFailures));
        Assert.Equal("DestroyAsync", Assert.Single(events.Of("PolicyFailed", pool.Name)).Payload![0]);
        AssertOneRenterEach(pool);
    }

    [Theory]
    [InlineData(ResetMode.None)]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.OnReturn)]
    [InlineData(ResetMode.OnRent)]
    public async Task Whatever_throws_at_random_no_resource_is_lost_ended_twice_or_shared(ResetMode reset)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3, reset: reset, keepAlive: 700));
        var random = new Random(1);
        T Draw<T>(T good) => random.Next(8) == 0 ? throw new InvalidDataException("as asked") : good;
        Policy.Broken = _ => Draw(false);
        Policy.OnValidate = (_, _) => new(Draw(true));
        Policy.OnValidateHere = _ => Draw<bool?>(random.Next(4) == 0 ? null : true);
        Policy.OnReset = (_, _) => new(Draw(true));
        Policy.OnResetHere = _ => Draw<bool?>(random.Next(4) == 0 ? null : true);
        Policy.OnKeepAlive = (_, _) => Draw(default(ValueTask));
        Policy.OnDestroy = _ => Draw(default(ValueTask));
        var held = new List<ResourceLease<FakeResource>>();
        int failed = 0;
        for (int i = 0; i < 3000; i++)
        {
            Policy.CreateError = random.Next(8) == 0 ? new InvalidDataException("as asked") : null;
            Time.Advance(random.Next(10) == 0 ? 1500 : 100);
            if (held.Count == 3 || (held.Count > 0 && random.Next(2) == 0))
            {
                ResourceLease<FakeResource> returned = held[random.Next(held.Count)];
                held.Remove(returned);
                returned.Value.Leave();
                returned.Dispose();
            }
            else
            {
                failed += await TryUse(pool, held, random.Next(2) == 0) ? 0 : 1;
            }

            pool.Validate();
        }

        held.ForEach(static l => l.Dispose());
        Assert.True(failed > 0 && pool.GetStatistics().DestroyFailures > 0
            && Policy.Made.Count > 300, $"{failed} failed, {pool.GetStatistics()}");
        Assert.All(Policy.Made, static r => Assert.InRange(r.Ends, 0, 1));
        Assert.Equal(pool.GetStatistics().Total, Policy.Alive);
    }

    /// <summary>The only exceptions that reach a renter are those of its own creation, and its own end of waiting.</summary>
    private static async Task<bool> TryUse(ResourcePool<FakeResource> pool, List<ResourceLease<FakeResource>> held, bool isSync)
    {
        if (!isSync || !pool.TryRent(out ResourceLease<FakeResource> lease))
        {
            using var stop = new CancellationTokenSource();
            Task<ResourceLease<FakeResource>> rental = pool.RentAsync(stop.Token).AsTask();
            await stop.CancelAsync();
            try
            {
                lease = await Soon(rental);
            }
            catch (Exception e) when (e is OperationCanceledException or ResourceCreateException)
            {
                return false;
            }
        }

        lease.Value.Enter();
        held.Add(lease);
        return true;
    }
}
