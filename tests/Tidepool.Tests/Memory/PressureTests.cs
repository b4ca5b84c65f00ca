using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

[Collection(SharedPoolsCollection.Name)]
public sealed class PressureTests
{
    [Fact]
    public void Collections_under_pressure_ask_for_one_epoch_at_a_time_however_slow_a_source_is()
    {
        using var source = new SlowSource();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source });
        pool.Rent(1000).Return();
        Eventually.True(Trimmer.RequestEpoch, "earlier epochs to end");
        Assert.True(source.Entered.Wait(Eventually.Limit));
        for (int i = 0; i < 40; i++)
        {
            Assert.False(Trimmer.RequestEpoch());
        }

        source.Go.Set();
        Eventually.True(Trimmer.RequestEpoch, "the slow epoch to end");
        Assert.Equal(1, source.Freed);
        pool.Validate();
    }

    private sealed class SlowSource : BufferSource<byte>, IDisposable
    {
        public ManualResetEventSlim Entered { get; } = new();

        public ManualResetEventSlim Go { get; } = new();

        public int Freed { get; private set; }

        public override BufferForm Form => BufferForm.WholeArray;

        public override SourceBuffer<byte> Allocate(int length, int alignment) => new(new byte[length], 0, length);

        public override void Free(in SourceBuffer<byte> buffer)
        {
            Entered.Set();
            Go.Wait(Eventually.Limit);
            Freed++;
        }

        public void Dispose()
        {
            Entered.Dispose();
            Go.Dispose();
        }
    }
}
