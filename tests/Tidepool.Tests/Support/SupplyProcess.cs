namespace Tidepool.Tests.Support;

/// <summary>A program without a handler whose resource pool fails, recovers and is cleared.</summary>
internal static class SupplyProcess
{
    internal static async Task RunAsync()
    {
        var policy = new FailingOnce();
        await using var pool = new ResourcePool<object>(policy, new() { Name = "supply", MaxSize = 1 });
        try
        {
            (await pool.RentAsync()).Dispose();
        }
        catch (ResourceCreateException)
        {
            (await pool.RentAsync()).Dispose();
        }

        await pool.ClearAsync();
    }

    private sealed class FailingOnce : ResourcePolicy<object>
    {
        private int _attempts;

        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken) =>
            Interlocked.Increment(ref _attempts) == 1 ? throw new IOException("refused") : new(new object());
    }
}
