using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text;
using MathNet.Numerics.Statistics;
using Tidepool.Timing;

namespace Tidepool.Advice;

/// <summary>The processor time that renting saves over allocating: below 0 where it costs more.</summary>
/// <param name="Seconds">As measured.</param>
/// <param name="Error">How far that may be off.</param>
internal readonly record struct SavedTime(double Seconds, double Error)
{
    /// <summary>So many times that; errors of the costs are common to all.</summary>
    public static SavedTime operator *(double times, SavedTime saved) => saved * times;

    /// <summary>So many times that; errors of the costs are common to all.</summary>
    public static SavedTime operator *(SavedTime saved, double times) => new(saved.Seconds * times, saved.Error * times);

    /// <summary>Both together.</summary>
    public static SavedTime operator +(SavedTime one, SavedTime other) => new(one.Seconds + other.Seconds, one.Error + other.Error);
}

/// <summary>What objects cost to allocate, and to rent instead.</summary>
internal interface IPoolCosts
{
    /// <summary>What renting an object saves over allocating it.</summary>
    /// <param name="size">The bytes of the object.</param>
    /// <param name="hasReferences">Whether it may hold references, so that it is cleared when it is returned.</param>
    SavedTime SavedBy(long size, bool hasReferences);

    /// <summary>What a pooled stream, builder or writer saves over the platform's, for each byte that it allocates.</summary>
    /// <param name="builder"><c>MemoryStream</c>, <c>StringBuilder</c> or <c>ArrayBufferWriter</c>.</param>
    /// <param name="largest">The bytes of its largest array.</param>
    SavedTime SavedPerByte(string builder, long largest);
}

/// <summary>
/// Measures the costs on this machine: arrays are allocated, and rented from a pool of Tidepool, and written to in both cases. Pauses of
/// the collector are left out, because those of the program that is looked at are known. Not for several threads at once.
/// </summary>
/// <param name="most">
/// How long it measures: later sizes cost what the nearest measured one does, byte for byte. Each kind is measured once all the same.
/// </param>
internal sealed class PoolCosts(TimeSpan most) : IPoolCosts
{
    private const int Rounds = 9;
    private const int RoundBytes = 32_000_000; // several collections, where they come often
    private const int FewestObjects = 16;
    private const int LargestSize = 1 << 20; // from there on costs grow as sizes do
    private const int WarmObjects = 200;
    private const int WarmLength = 4000;
    private const int WarmCollections = 3;
    private const int WarmPart = 4000; // as in programs, more than one block
    private const int LargeObject = 85_000;
    private const double Error = 0.1; // of what allocating costs, in the median of the rounds
    private const int Parts = 10;
    private const double BuiltShare = 0.75; // of the largest array: halfway between what it was made for and its end

    /// <summary>What grows, plain and in pooled memory, and the bytes of one element of what is written.</summary>
    private static readonly Dictionary<string, (Action<int, int> Plain, Action<int, int> Pooled, int Unit)> Builders = new(
        StringComparer.Ordinal)
    {
        [nameof(MemoryStream)] = (StreamAll, PooledStreamAll, sizeof(byte)),
        [nameof(ArrayBufferWriter<>)] = (WriteAll, PooledWriteAll, sizeof(byte)),
        [nameof(StringBuilder)] = (BuildAll, PooledBuildAll, sizeof(char)),
    };

    /// <summary>What was measured: per byte, of each kind (arrays without references, with them, and the builders) by size.</summary>
    private readonly Dictionary<string, SortedDictionary<long, SavedTime>> _savedPerByte = new(StringComparer.Ordinal);
    private readonly Stopwatch _time = new();
    private bool _isWarm;

    /// <summary>The time that lets a report come within five seconds after its window.</summary>
    public PoolCosts()
        : this(TimeSpan.FromSeconds(2))
    {
    }

    /// <inheritdoc/>
    public SavedTime SavedBy(long size, bool hasReferences) => size * (hasReferences
        ? SavedPerByte(nameof(Object), RepresentativeOf(size), static bytes => Measure<object>(bytes, IntPtr.Size) * (1.0 / bytes))
        : SavedPerByte(nameof(Byte), RepresentativeOf(size), static bytes => Measure<byte>(bytes, sizeof(byte)) * (1.0 / bytes)));

    /// <inheritdoc/>
    public SavedTime SavedPerByte(string builder, long largest)
    {
        var (plain, pooled, unit) = Builders[builder];
        return SavedPerByte(
            builder,
            RepresentativeOf(largest),
            bytes => MeasurePerByte(plain, pooled, (int)Math.Max(1, bytes * BuiltShare / Parts / unit)));
    }

    private SavedTime SavedPerByte(string kind, long size, Func<long, SavedTime> measure)
    {
        if (!_savedPerByte.TryGetValue(kind, out SortedDictionary<long, SavedTime>? bySize))
        {
            _savedPerByte.Add(kind, bySize = []);
        }

        if (bySize.TryGetValue(size, out SavedTime saved))
        {
            return saved;
        }

        long[] alike = [.. bySize.Keys.Where(one => one >= LargeObject == size >= LargeObject)];
        if (alike.Length > 0 && _time.Elapsed >= most)
        {
            return bySize[alike.MinBy(one => Math.Abs(Math.Log((double)one / size)))];
        }

        Warm();
        _time.Start();
        saved = measure(size);
        _time.Stop();
        bySize.Add(size, saved);
        return saved;
    }

    /// <summary>The size that is measured in place of another: a power of two, on the same side of what makes an object large.</summary>
    internal static long RepresentativeOf(long size)
    {
        long rounded = 1L << (int)Math.Round(Math.Log2(Math.Clamp(size, 64, LargestSize)));
        return size >= LargeObject ? Math.Max(rounded, 1 << 17) : Math.Min(rounded, 1 << 16);
    }

    /// <summary>
    /// Lets the compiler finish the code of the pools, and the collector use memory again that it had before: the first use of a page of
    /// the system costs several times as much as an array in it.
    /// </summary>
    private void Warm()
    {
        if (_isWarm)
        {
            return;
        }

        int collections = GC.CollectionCount(0);
        while (GC.CollectionCount(0) - collections < WarmCollections)
        {
            AllocateAll<byte>(WarmLength, WarmObjects);
        }

        CodeWarmUp.Run(static () =>
        {
            AllocateAll<byte>(WarmObjects, WarmObjects);
            RentAll<byte>(WarmObjects, WarmObjects);
            AllocateAll<object>(WarmObjects, WarmObjects);
            RentAll<object>(WarmObjects, WarmObjects);
            foreach (var (plain, pooled, _) in Builders.Values)
            {
                plain(WarmPart, WarmObjects);
                pooled(WarmPart, WarmObjects);
            }
        });
        _isWarm = true;
    }

    private static SavedTime Measure<T>(long size, int elementSize)
    {
        int length = (int)Math.Max(1, (size - TypeRules.ArrayHeader) / elementSize);
        return Compare(AllocateAll<T>, RentAll<T>, length, (int)Math.Max(FewestObjects, RoundBytes / size));
    }

    /// <summary>Compares what builds with what builds in pooled memory, over the bytes that the first allocates.</summary>
    private static SavedTime MeasurePerByte(Action<int, int> plain, Action<int, int> pooled, int part)
    {
        double bytes = BytesOf(plain, part, 2) - BytesOf(plain, part, 1); // what is written is one for all of them
        return Compare(plain, pooled, part, (int)Math.Max(FewestObjects, RoundBytes / bytes)) * (1 / bytes);
    }

    private static long BytesOf(Action<int, int> work, int length, int objects)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        work(length, objects);
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    /// <summary>The processor time that the second saves over the first, for one of so many objects.</summary>
    private static SavedTime Compare(Action<int, int> plain, Action<int, int> pooled, int length, int objects)
    {
        var allocating = new double[Rounds];
        var renting = new double[Rounds];
        for (int round = 0; round < Rounds; round++)
        {
            allocating[round] = Time(plain, length, objects);
            renting[round] = Time(pooled, length, objects);
        }

        double cost = allocating.Median();
        return new SavedTime((cost - renting.Median()) / objects, Error * Math.Abs(cost) / objects);
    }

    private static double Time(Action<int, int> work, int length, int objects)
    {
        TimeSpan paused = GC.GetTotalPauseDuration();
        TimeSpan used = Environment.CpuUsage.TotalTime;
        work(length, objects);
        return (Environment.CpuUsage.TotalTime - used - (GC.GetTotalPauseDuration() - paused)).TotalSeconds;
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static void AllocateAll<T>(int length, int objects)
    {
        for (int i = 0; i < objects; i++)
        {
            Use(new T[length].AsSpan());
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static void RentAll<T>(int length, int objects)
    {
        bool hasReferences = RuntimeHelpers.IsReferenceOrContainsReferences<T>();
        for (int i = 0; i < objects; i++)
        {
            using BufferLease<T> lease = BufferPool<T>.Shared.Rent(length, clear: hasReferences);
            Use(lease.Span);
        }
    }

    private static void StreamAll(int part, int objects)
    {
        byte[] content = new byte[part];
        for (int i = 0; i < objects; i++)
        {
            using var stream = new MemoryStream();
            Write(stream, content);
        }
    }

    private static void PooledStreamAll(int part, int objects)
    {
        byte[] content = new byte[part];
        for (int i = 0; i < objects; i++)
        {
            using var stream = new PooledMemoryStream();
            Write(stream, content);
        }
    }

    private static void Write(MemoryStream stream, byte[] content)
    {
        for (int part = 0; part < Parts; part++)
        {
            stream.Write(content);
        }
    }

    private static void WriteAll(int part, int objects)
    {
        byte[] content = new byte[part];
        for (int i = 0; i < objects; i++)
        {
            Fill(new ArrayBufferWriter<byte>(), content);
        }
    }

    private static void PooledWriteAll(int part, int objects)
    {
        byte[] content = new byte[part];
        for (int i = 0; i < objects; i++)
        {
            using var writer = new PooledBufferWriter<byte>();
            Fill(writer, content);
        }
    }

    private static void Fill(IBufferWriter<byte> writer, byte[] content)
    {
        for (int part = 0; part < Parts; part++)
        {
            writer.Write(content);
        }
    }

    private static void BuildAll(int part, int objects)
    {
        for (int i = 0; i < objects; i++)
        {
            Append(new StringBuilder(), part);
        }
    }

    private static void PooledBuildAll(int part, int objects)
    {
        for (int i = 0; i < objects; i++)
        {
            using var text = PooledStringBuilder.Rent();
            Append(text.Builder, part);
        }
    }

    private static void Append(StringBuilder builder, int characters)
    {
        for (int part = 0; part < Parts; part++)
        {
            builder.Append('x', characters);
        }
    }

    /// <summary>Writes all of it, as a program does that needs it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Use<T>(Span<T> content) => content.Clear();
}
