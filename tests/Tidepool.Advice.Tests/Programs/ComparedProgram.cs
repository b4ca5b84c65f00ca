using System.Text;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>Programs that end by themselves: the work, and what can go wrong in a run.</summary>
internal static class ComparedProgram
{
    /// <summary>Allocates arrays: as many bytes as the second word says.</summary>
    public const string Arrays = "compared-arrays";

    /// <summary>Works on Tidepool's buffers, streams, builders and objects, and prints what they kept.</summary>
    public const string Pools = "compared-pools";

    /// <summary>Ends with code 7 and a reason.</summary>
    public const string Fails = "compared-fails";

    /// <summary>Crashes.</summary>
    public const string Crashes = "compared-crashes";

    /// <summary>Does not end.</summary>
    public const string Hangs = "compared-hangs";

    /// <summary>What a failing run says.</summary>
    public const string Reason = "the database is not there";

    /// <summary>How often each pool is rented from.</summary>
    public const int Rounds = 2000;

    public static int Run(string name, string[] arguments)
    {
        switch (name)
        {
            case Arrays:
                for (long left = long.Parse(arguments[0], System.Globalization.CultureInfo.InvariantCulture); left > 0; left -= 10_000)
                {
                    GC.KeepAlive(new byte[10_000]);
                }

                return 0;
            case Pools:
                return WorkOnPools();
            case Fails:
                Console.Error.WriteLine(Reason);
                return 7;
            case Crashes:
                Environment.FailFast("planned");
                return 0;
            default:
                Thread.Sleep(Timeout.Infinite);
                return 0;
        }
    }

    private static int WorkOnPools()
    {
        using var buffers = BufferPool<byte>.Create();
        using var objects = ObjectPool<List<int>>.Create(static () => new List<int>(1000));
        using var resources = ResourcePool.Create(static _ => Task.FromResult(new object()), new() { MaxSize = 1 });
        resources.WarmUpAsync(1).GetAwaiter().GetResult();
        int made = 0;
        for (int i = 0; i < Rounds; i++)
        {
            buffers.Rent(10_000).Return();
            objects.Rent().Dispose();
            using var stream = new PooledMemoryStream();
            stream.Write(new byte[10]);
            using var text = PooledStringBuilder.Rent();
            text.Builder.Append('x');
            using ResourceLease<object> resource = resources.Rent();
            made += resource.Value.GetHashCode() == 0 ? 1 : 0;
        }

        PoolStatistics[] memory = [buffers.GetStatistics(), objects.GetStatistics()];
        long missed = memory.Sum(static pool => pool.Missed);
        Console.WriteLine($"{missed} {memory.Sum(static pool => pool.Idle)} {resources.GetStatistics().Created}");
        return made > Rounds ? 1 : 0;
    }
}
