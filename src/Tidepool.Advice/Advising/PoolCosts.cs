using System.Runtime.CompilerServices;
using MathNet.Numerics.Statistics;

namespace Tidepool.Advice;

/// <summary>What objects cost to allocate, and to rent instead.</summary>
internal interface IPoolCosts
{
    /// <summary>
    /// The processor time that renting an object saves over allocating it, in seconds: below 0 when it costs more, and 0 within a tenth of
    /// equal.
    /// </summary>
    /// <param name="size">The bytes of the object.</param>
    /// <param name="hasReferences">Whether it may hold references, so that it is cleared when it is returned.</param>
    double SavedSeconds(long size, bool hasReferences);
}

/// <summary>
/// Measures the costs on this machine: arrays are allocated, and rented from a pool of Tidepool, and written to in both cases. Pauses of
/// the collector are left out, because those of the program that is looked at are known. Not for several threads at once.
/// </summary>
internal sealed class PoolCosts : IPoolCosts
{
    private const int Rounds = 7;
    private const int RoundBytes = 8_000_000;
    private const int FewestObjects = 16;
    private const int LargestSize = 1 << 24;
    private const int WarmPasses = 3;
    private const int WarmObjects = 200;
    private const int LargeObject = 85_000;
    private const double Same = 0.1;
    private static readonly TimeSpan Compiling = TimeSpan.FromMilliseconds(150);

    private readonly Dictionary<(long Size, bool HasReferences), double> _saved = [];
    private bool _isWarm;

    /// <inheritdoc/>
    public double SavedSeconds(long size, bool hasReferences)
    {
        long measured = RepresentativeOf(size);
        if (!_saved.TryGetValue((measured, hasReferences), out double saved))
        {
            Warm();
            saved = hasReferences ? Measure<object>(measured, IntPtr.Size) : Measure<byte>(measured, sizeof(byte));
            _saved.Add((measured, hasReferences), saved);
        }

        return saved * size / measured;
    }

    /// <summary>The size that is measured in place of another: a power of two, on the same side of what makes an object large.</summary>
    internal static long RepresentativeOf(long size)
    {
        long rounded = 1L << (int)Math.Round(Math.Log2(Math.Clamp(size, 64, LargestSize)));
        return size >= LargeObject ? Math.Max(rounded, 1 << 17) : Math.Min(rounded, 1 << 16);
    }

    /// <summary>Lets the compiler finish the code of the pools.</summary>
    private void Warm()
    {
        for (int pass = 0; pass < WarmPasses && !_isWarm; pass++)
        {
            AllocateAll<byte>(WarmObjects, WarmObjects);
            RentAll<byte>(WarmObjects, WarmObjects);
            AllocateAll<object>(WarmObjects, WarmObjects);
            RentAll<object>(WarmObjects, WarmObjects);
            Thread.Sleep(Compiling);
        }

        _isWarm = true;
    }

    private static double Measure<T>(long size, int elementSize)
    {
        int length = (int)Math.Max(1, (size - TypeRules.ArrayHeader) / elementSize);
        int objects = (int)Math.Max(FewestObjects, RoundBytes / size);
        var allocating = new double[Rounds];
        var renting = new double[Rounds];
        for (int round = 0; round < Rounds; round++)
        {
            allocating[round] = Time(static (length, objects) => AllocateAll<T>(length, objects), length, objects);
            renting[round] = Time(static (length, objects) => RentAll<T>(length, objects), length, objects);
        }

        double saved = allocating.Median() - renting.Median();
        return Math.Abs(saved) < Same * allocating.Median() ? 0 : saved / objects;
    }

    private static double Time(Action<int, int> work, int length, int objects)
    {
        TimeSpan paused = GC.GetTotalPauseDuration();
        TimeSpan used = Environment.CpuUsage.TotalTime;
        work(length, objects);
        return (Environment.CpuUsage.TotalTime - used - (GC.GetTotalPauseDuration() - paused)).TotalSeconds;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AllocateAll<T>(int length, int objects)
    {
        for (int i = 0; i < objects; i++)
        {
            Use(new T[length].AsSpan());
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RentAll<T>(int length, int objects)
    {
        bool hasReferences = RuntimeHelpers.IsReferenceOrContainsReferences<T>();
        for (int i = 0; i < objects; i++)
        {
            using BufferLease<T> lease = BufferPool<T>.Shared.Rent(length, clear: hasReferences);
            Use(lease.Span);
        }
    }

    /// <summary>Writes all of it, as a program does that needs it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Use<T>(Span<T> content) => content.Clear();
}
