using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Streams;

/// <summary>
/// Random operations on a <see cref="MemoryStream"/> and on ours: results, exception types, parameter names, positions, lengths and
/// content must be equal, but for the documented differences.
/// </summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class RandomComparisonTests(ITestOutputHelper output) : PoolTest
{
    private const int Operations = 1_000_000;
    private const int OperationsPerStream = 150;

    [Fact]
    public void A_million_operations_do_what_MemoryStream_does()
    {
        Random random = Seeds.New(output);
        BufferPool<byte> arrays = NewPool<byte>();
        BufferPool<byte> slabs = NewPool<byte>(new() { Source = new SlabSource<byte>() });
        BufferPool<byte> native = NewPool<byte>(new() { Source = new NativeTestSource<byte>() });
        ArrayPool<byte> raw = arrays.AsArrayPool();
        StreamOperation[] operations = StreamOperation.All();
        Dictionary<string, int> drawn = operations.ToDictionary(o => o.Name, _ => 0);
        int totalWeight = operations.Sum(o => o.Weight);
        for (int done = 0; done < Operations;)
        {
            int seed = random.Next();
            StreamPair pair = StreamPair.New(new Random(seed), arrays, slabs, native, raw);
            List<string> history = [$"{pair.Kind}, stream seed {seed}"];
            for (int i = 0; i < OperationsPerStream; i++, done++)
            {
                StreamOperation operation = Draw(operations, random, totalWeight);
                drawn[operation.Name]++;
                StreamArguments arguments = StreamArguments.Draw(random, pair);
                history.Add($"{operation.Name}({arguments})");
                string theirs = Outcome(operation, pair.Theirs, arguments, pair.Theirs.CanRead || pair.IsOverArray);
                string ours = Outcome(
                    operation,
                    pair.Ours,
                    arguments,
                    pair.Theirs.CanRead || !StreamOperation.NeedsOpenStream.Contains(operation.Name));
                if (theirs == nameof(IndexOutOfRangeException) && operation.Name == "WriteByte")
                {
                    theirs = nameof(IOException); // at the last position of all MemoryStream misses its own check
                }

                if (theirs != ours)
                {
                    Assert.Fail(
                        $"After {done} operations, MemoryStream: {theirs}, ours: "
                            + $"{ours}\n{string.Join("\n", history.Take(1).Concat(history.TakeLast(25)))}");
                }

                if (i % 10 == 0 || i == OperationsPerStream - 1)
                {
                    Assert.True(
                        State(pair.Theirs) == State(pair.Ours),
                        $"MemoryStream: {State(pair.Theirs)}, ours: "
                            + $"{State(pair.Ours)}\n{string.Join("\n", history.Take(1).Concat(history.TakeLast(25)))}");
                    Assert.True(
                        pair.Ours.FindFault() is null,
                        $"{pair.Ours.FindFault()}\n{string.Join("\n", history.Take(1).Concat(history.TakeLast(25)))}");
                }

                if (!pair.Theirs.CanRead && i > 20)
                {
                    break;
                }
            }

            if (pair.Theirs.CanRead)
            {
                Assert.True(
                    pair.Theirs.ToArray().AsSpan().SequenceEqual(pair.Ours.ToArray()),
                    $"Contents differ:\n{string.Join("\n", history.Take(1).Concat(history.TakeLast(25)))}");
            }

            pair.Ours.Dispose();
            pair.Theirs.Dispose();
        }

        output.WriteLine(string.Join(", ", drawn.OrderByDescending(d => d.Value).Select(d => $"{d.Key} {d.Value}")));
        Assert.All(drawn, d => Assert.True(d.Value > 0, $"{d.Key} was never drawn."));
    }

    [Fact]
    public void Every_public_member_of_MemoryStream_is_among_the_operations()
    {
        HashSet<string> drawn = [.. StreamOperation.All().Select(o => o.Member)];
        string[] notOperations = ["GetType", "ToString", "Equals", "GetHashCode", "GetLifetimeService", "InitializeLifetimeService"];
        IEnumerable<string> members = typeof(MemoryStream).GetMembers(BindingFlags.Public | BindingFlags.Instance)
            .Where(m => m is MethodInfo { IsSpecialName: false } or PropertyInfo)
            .Select(
                m => m is MethodInfo method
                    ? $"{m.Name}({string.Join(",", method.GetParameters().Select(p => p.ParameterType.Name))})"
                    : m.Name)
            .Where(m => !notOperations.Contains(m.Split('(')[0]));
        string[] missing = [.. members.Where(m => !drawn.Contains(m))];
        Assert.True(missing.Length == 0, string.Join(", ", missing));
    }

    private static StreamOperation Draw(StreamOperation[] operations, Random random, int totalWeight)
    {
        int ticket = random.Next(totalWeight);
        foreach (StreamOperation operation in operations)
        {
            ticket -= operation.Weight;
            if (ticket < 0)
            {
                return operation;
            }
        }

        throw new InvalidOperationException("The weights do not add up.");
    }

    [SuppressMessage("Design", "CA1031", Justification = "Exceptions are outcomes that are compared.")]
    private static string Outcome(StreamOperation operation, MemoryStream stream, StreamArguments arguments, bool contentIsThere)
    {
        if (!contentIsThere && stream is MemoryStream and not PooledMemoryStream
            && StreamOperation.NeedsOpenStream.Contains(operation.Name))
        {
            return operation.Name == "TryGetBuffer" ? "none" : nameof(ObjectDisposedException); // the documented difference
        }

        try
        {
            return Convert.ToString(operation.Run(stream, arguments), CultureInfo.InvariantCulture) ?? "null";
        }
        catch (Exception e)
        {
            return e is ArgumentException { ParamName: { } parameter } ? $"{e.GetType().Name} {parameter}" : e.GetType().Name;
        }
    }

    private static string State(MemoryStream stream) => stream.CanRead
        ? $"position {stream.Position} length {stream.Length} capacity {stream.Capacity} write {stream.CanWrite}"
        : $"closed {stream.CanSeek} {stream.CanWrite}";
}
