using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class RentingInsideACallbackOfThePool : ResourceMisuseTest
{
    public static TheoryData<string, int> Callbacks
    {
        get
        {
            var all = new TheoryData<string, int>();
            string[] callbacks =
            [
                "CreateAsync", "Create", "IsBroken", "ValidateAsync", "Validate", "ResetAsync", "Reset", "KeepAliveAsync", "DestroyAsync",
            ];
            foreach (string callback in callbacks)
            {
                all.Add(callback, 1);
                all.Add(callback, 2);
            }

            return all;
        }
    }

    [Theory]
    [MemberData(nameof(Callbacks))]
    public void It_gets_another_resource_or_a_refusal_and_never_the_one_at_hand(string callback, int max)
    {
        ResourcePool<FakeResource> pool = NewPool(
            Options(max: max, keepAlive: 5000, reset: callback == "Reset" ? ResetMode.OnReturn : ResetMode.Background));
        bool isInside = false;
        var inside = new List<string>();
        bool RentHere(FakeResource? atHand, string here)
        {
            if (here != callback || isInside)
            {
                return true;
            }

            isInside = true;
            bool isThere = pool.TryRent(out ResourceLease<FakeResource> lease);
            Task<ResourceLease<FakeResource>> now = pool.RentAsync(TimeSpan.Zero).AsTask();
            inside.Add($"{isThere} {now.IsCompletedSuccessfully}");
            foreach (ResourceLease<FakeResource> got in now.IsCompletedSuccessfully ? new[] { lease, now.Result } : [lease])
            {
                Assert.True(!got.IsActive || got.Value != atHand);
                got.Dispose();
            }

            isInside = false;
            pool.Validate();
            return true;
        }

        Policy.OnCreateHere = _ =>
        {
            RentHere(null, "Create");
            return Policy.Make();
        };
        Policy.Broken = r => !RentHere(r, "IsBroken");
        Policy.OnValidate = (r, _) => new(RentHere(r, "ValidateAsync"));
        Policy.OnValidateHere = r => RentHere(r, "Validate");
        Policy.OnReset = (r, _) => new(RentHere(r, "ResetAsync"));
        Policy.OnResetHere = r => RentHere(r, "Reset");
        Policy.OnKeepAlive = (r, _) => RentHere(r, "KeepAliveAsync") ? default : default;
        Policy.OnDestroy = r => RentHere(r, "DestroyAsync") ? default : default;
        Policy.OnCreate = () => _ = RentHere(null, "CreateAsync");

        ResourceLease<FakeResource>[] leases =
            [.. Enumerable.Range(0, max).Select(i => callback == "Create" ? pool.Rent(Second) : Rent(pool))];
        Array.ForEach(leases, static l => l.Dispose());
        Time.Advance(2000);
        (callback == "Validate" ? pool.Rent(Second) : Rent(pool)).Dispose();
        Time.Advance(5000);
        Time.Advance(TimeSpan.FromHours(1));
        Assert.NotEmpty(inside);
        if (max == 1)
        {
            Assert.All(inside, static found => Assert.Equal("False False", found));
        }

        AssertOneRenterEach(pool);
    }

    [Theory]
    [InlineData("ValidateAsync")]
    [InlineData("DestroyAsync")]
    public async Task Waiting_inside_for_the_place_at_hand_ends_with_the_policys_time(string callback)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        var inner = new TaskCompletionSource<FakeResource>(TaskCreationOptions.RunContinuationsAsynchronously);
        bool isDone = false;
        async ValueTask<bool> RentHere(string here)
        {
            if (here == callback && !isDone)
            {
                isDone = true;
                using ResourceLease<FakeResource> lease = await pool.RentAsync(TimeSpan.FromSeconds(8));
                inner.SetResult(lease.Value);
            }

            return true;
        }

        Policy.OnValidate = (_, _) => RentHere("ValidateAsync");
        Policy.OnDestroy = async _ => await RentHere("DestroyAsync");
        ResourceLease<FakeResource> outer = Rent(pool);
        FakeResource first = outer.Value;
        first.IsDead = callback == "DestroyAsync";
        outer.Dispose();
        Time.Advance(2000);
        Task<ResourceLease<FakeResource>> rental = Wait(pool, TimeSpan.FromSeconds(9));
        Time.Advance(5000);
        (await Soon(rental)).Dispose();
        Assert.NotSame(first, await Soon(inner.Task));
        Eventually.True(() => first.Ends == 1 && pool.GetStatistics().Leased == 0, "the resource at hand to be destroyed");
        AssertOneRenterEach(pool);
    }
}
