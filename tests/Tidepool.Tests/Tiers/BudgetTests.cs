using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

public sealed class BudgetTests
{
    [Fact]
    public void A_budget_takes_charges_up_to_its_limit_and_no_further()
    {
        Budget budget = new(100, null);
        Assert.True(budget.TryCharge(60));
        Assert.True(budget.TryCharge(40));
        Assert.False(budget.TryCharge(1));
        Assert.Equal(100, budget.Used);
        budget.Refund(40);
        Assert.False(budget.TryCharge(41));
        Assert.True(budget.TryCharge(40));
        Assert.True(budget.IsValid());
    }

    [Fact]
    public void A_refused_charge_takes_nothing_from_either_budget()
    {
        Budget parent = new(100, null);
        Budget child = new(1000, parent);
        Assert.True(child.TryCharge(70));
        Assert.False(child.TryCharge(31));
        Assert.Equal((70, 70), (child.Used, parent.Used));
        Budget small = new(10, parent);
        Assert.False(small.TryCharge(11));
        Assert.Equal((0, 70), (small.Used, parent.Used));
    }

    [Fact]
    public void A_refund_goes_to_both_budgets()
    {
        Budget parent = new(100, null);
        Budget child = new(100, parent);
        Assert.True(child.TryCharge(70));
        child.Refund(70);
        Assert.Equal((0, 0), (child.Used, parent.Used));
    }

    [Fact]
    public void More_refunds_than_charges_are_a_broken_invariant()
    {
        Budget parent = new(100, null);
        Budget child = new(100, parent);
        child.Refund(1);
        Assert.False(child.IsValid());
        Assert.False(parent.IsValid());
    }

    [Fact]
    public void The_budget_of_the_process_is_finite() =>
        Assert.InRange(Budget.Process.Limit, 1 << 20, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 2);

    [Fact]
    public void Charges_of_several_threads_never_exceed_the_limit()
    {
        Budget budget = new(1000, null);
        Threads.RunAll(4, thread =>
        {
            for (int i = 0; i < 20_000; i++)
            {
                if (budget.TryCharge(300 + thread))
                {
                    budget.Refund(300 + thread);
                }
            }
        });
        Assert.Equal(0, budget.Used);
    }

    [Fact]
    public void What_a_pool_charges_is_refunded_when_it_is_disposed()
    {
        Budget budget = new BufferPoolSettings<byte>(new() { Budget = 1 << 20 }).Budget;
        Assert.Equal(1 << 20, budget.Limit);
        BufferPool<byte> pool = BufferPool<byte>.Create(new() { Budget = 1 << 20 });
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent(1000))];
        Array.ForEach(leases, l => l.Return());
        Assert.NotEqual(0, pool.Core.Budget.Used);
        pool.Dispose();
        Assert.Equal(0, pool.Core.Budget.Used);
    }
}
