using System.Text;

namespace Tidepool.Tests.Support;

/// <summary>A program without a handler whose resource pool fails, recovers and is cleared.</summary>
internal static class SupplyProcess
{
    private const int Reports = 4;
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    internal static async Task RunAsync()
    {
        // A report is written after the rental that it is about went on, so the program must not end before it.
        using var written = new SemaphoreSlim(0);
        Console.SetError(new Counting(Console.Error, written));
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
        for (int i = 0; i < Reports; i++)
        {
            if (!await written.WaitAsync(Limit))
            {
                throw new TimeoutException($"Only {i} of {Reports} reports were written.");
            }
        }
    }

    /// <summary>Passes lines on and counts them.</summary>
    private sealed class Counting(TextWriter inner, SemaphoreSlim lines) : TextWriter
    {
        public override Encoding Encoding => inner.Encoding;

        public override void WriteLine(string? value)
        {
            inner.WriteLine(value);
            lines.Release();
        }
    }

    private sealed class FailingOnce : ResourcePolicy<object>
    {
        private int _attempts;

        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken) =>
            Interlocked.Increment(ref _attempts) == 1 ? throw new IOException("refused") : new(new object());
    }
}
