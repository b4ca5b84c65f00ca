using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourcePolicyThatHangs : ResourceMisuseTest
{
    public static TheoryData<string> Callbacks => ["CreateAsync", "ValidateAsync", "ResetAsync", "KeepAliveAsync", "DestroyAsync"];

    [Theory]
    [MemberData(nameof(Callbacks))]
    public async Task Its_place_is_given_up_in_time_and_what_it_leaves_is_ended_once(string callback)
    {
        ResourcePool<FakeResource> pool = NewPool(
            Options(max: 1, keepAlive: callback == "KeepAliveAsync" ? 5000 : -1, reset: ResetMode.Background));
        TaskCompletionSource<bool> hang = new();
        TaskCompletionSource creation = FakePolicy.DirectGate();
        CancellationToken stop = default;
        FakeResource? first = null;
        ValueTask<bool> Hang(FakeResource r, string here, CancellationToken token)
        {
            if (r != first || here != callback)
            {
                return new(true);
            }

            stop = token;
            return new(hang.Task);
        }

        Policy.OnValidate = (r, token) => Hang(r, "ValidateAsync", token);
        Policy.OnReset = (r, token) => Hang(r, "ResetAsync", token);
        Policy.OnKeepAlive = (r, token) => new(Hang(r, "KeepAliveAsync", token).AsTask());
        Policy.OnDestroy = r => new(Hang(r, "DestroyAsync", default).AsTask());
        (Policy.HonoursTokens, Policy.CreateGate) = (false, callback == "CreateAsync" ? creation : null);
        Task<ResourceLease<FakeResource>>? waiting = null;
        if (callback == "CreateAsync")
        {
            waiting = Wait(pool, TimeSpan.FromSeconds(60));
            Policy.CreateGate = null;
            Time.Advance(15_000);
            await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(waiting));
            Time.Advance(1000);
        }
        else
        {
            ResourceLease<FakeResource> lease = Rent(pool);
            first = lease.Value;
            first.IsDead = callback == "DestroyAsync";
            lease.Dispose();
            Time.Advance(callback == "KeepAliveAsync" ? 5000 : callback == "ValidateAsync" ? 2000 : 0);
            waiting = Wait(pool, TimeSpan.FromSeconds(60));
            Time.Advance(4999);
            Assert.False(waiting.IsCompleted);
            Time.Advance(1);
            (await Soon(waiting)).Dispose();
            Assert.Equal(callback != "DestroyAsync", stop.IsCancellationRequested);
        }

        AssertOneRenterEach(pool);
        FakePolicy.Open(hang);
        FakePolicy.Open(creation);
        Assert.Equal((2, 1), (Policy.Made.Count, Policy.Made.Count(static r => r.Ends == 1)));
        AssertOneRenterEach(pool);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_synchronous_look_that_hangs_holds_up_its_renter_only(bool judges)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Rent(pool).Dispose();
        Time.Advance(2000);
        using var begun = new ManualResetEventSlim();
        using var end = new ManualResetEventSlim();
        FakeResource first = Policy.Made.Single();
        Policy.OnValidateHere = r =>
        {
            if (r == first)
            {
                begun.Set();
                end.Wait();
            }

            return judges ? true : null;
        };
        FakeResource? got = null;
        var thread = new Thread(() =>
        {
            using ResourceLease<FakeResource> lease = pool.Rent(TimeSpan.FromMinutes(1));
            got = lease.Value;
        });
        thread.Start();
        begun.Wait();
        Time.Advance(5000);
        AssertOneRenterEach(pool);
        end.Set();
        Assert.True(thread.Join(Eventually.Limit));
        Assert.NotSame(first, got);
        Assert.Equal(1, first.Ends);
        AssertOneRenterEach(pool);
    }

    [Fact]
    public void A_quick_look_that_hangs_holds_up_its_caller_and_keeps_one_place()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2));
        using var begun = new ManualResetEventSlim();
        using var end = new ManualResetEventSlim();
        ResourceLease<FakeResource> lease = Rent(pool);
        FakeResource first = lease.Value;
        Policy.Broken = r =>
        {
            if (r == first)
            {
                begun.Set();
                end.Wait();
            }

            return false;
        };
        var thread = new Thread(() => lease.Dispose());
        thread.Start();
        begun.Wait();
        Time.Advance(60_000);
        Assert.False(lease.IsActive);
        Assert.Equal(1, pool.GetStatistics().Leased);
        Rent(pool).Dispose();
        end.Set();
        Assert.True(thread.Join(Eventually.Limit));
        AssertOneRenterEach(pool);
    }
}
