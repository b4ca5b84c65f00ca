namespace Tidepool.Labs.Tests.Instances;

/// <summary>The subjects of lab <c>objects</c> do what their rows say.</summary>
[Collection("crews of threads")] // a crew has one caller
public class InstanceSubjectTests
{
    public static TheoryData<string> Names => new(InstanceSubject.States.Select(subject => subject.Name));

    [Theory]
    [MemberData(nameof(Names))]
    public void Every_loop_runs(string name)
    {
        InstanceSubject[] all = [.. InstanceSubject.States, .. InstanceSubject.Builders, .. InstanceSubject.LongBuilders];
        foreach (var subject in all.Where(subject => subject.Name == name))
        {
            foreach (int depth in (int[])[1, 8])
            {
                foreach (int threads in (int[])[1, 2])
                {
                    using var loop = subject.Create(depth, threads);
                    loop.Run(loop.Granularity * 3);
                }
            }

            using var deep = subject.Create(64, 2);
            Assert.Equal(128, deep.Granularity);
            deep.Run(384);
            using var drain = subject.Drain(64);
            Assert.Equal(64, drain.Granularity);
            drain.Run(128);
        }
    }

    [Fact]
    public void Objects_that_are_out_at_the_same_time_are_different_ones()
    {
        AssertDistinct<NewState, State>(default, item => item.Value);
        AssertDistinct<BagState, State>(default, item => item.Value);
        AssertDistinct<MicrosoftState, State>(default, item => item.Value);
        AssertDistinct<RawState, State>(default, item => item.Value);
        AssertDistinct<LeasedState, StateLease>(default, item => item.Value.Value);
        AssertDistinct<NewBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertDistinct<BagBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertDistinct<MicrosoftBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertDistinct<RawBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertDistinct<LeasedBuilder<UsualSize>, BuilderLease>(default, item => item.Value.Value);
    }

    [Fact]
    public void Every_builder_comes_back_empty()
    {
        AssertEmpty<NewBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertEmpty<BagBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertEmpty<MicrosoftBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertEmpty<RawBuilder<UsualSize>, Builder>(default, item => item.Value);
        AssertEmpty<LeasedBuilder<UsualSize>, BuilderLease>(default, item => item.Value.Value);
    }

    [Fact]
    public void A_drained_pool_keeps_everything_for_the_next_time()
    {
        using var drain = InstanceSubject.States.Single(subject => subject.Name == InstanceSubject.Raw).Drain(2048);
        drain.Run(2048);
        drain.Run(2048);

        Assert.Equal(0, Samples.UsualBytes(() => drain.Measure(2048)));
    }

    private static void AssertDistinct<TSubject, TItem>(TSubject subject, Func<TItem, object> of)
        where TSubject : struct, IRentalSubject<TSubject, TItem>
        where TItem : struct
    {
        TItem[] items = [.. Enumerable.Range(0, 40).Select(_ => subject.Rent(0))];
        Assert.Equal(40, items.Select(of).Distinct(ReferenceEqualityComparer.Instance).Count());
        Array.ForEach(items, subject.Touch);
        Array.ForEach(items, subject.Return);
    }

    private static void AssertEmpty<TSubject, TItem>(TSubject subject, Func<TItem, System.Text.StringBuilder> of)
        where TSubject : struct, IRentalSubject<TSubject, TItem>
        where TItem : struct
    {
        for (int i = 0; i < 3; i++)
        {
            TItem item = subject.Rent(0);
            Assert.Equal(0, of(item).Length);
            subject.Touch(item);
            Assert.Equal(InstanceSubject.Text, of(item).ToString());
            subject.Return(item);
        }
    }
}
