using System.Buffers;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Streams;

/// <summary>Random sequences of the members that <see cref="MemoryStream"/> does not have, against a plain list of bytes.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class StreamPropertyTests(ITestOutputHelper output) : PoolTest
{
    private const int Sequences = 4000;

    [Fact]
    public void Any_mixture_of_ways_in_gives_the_same_content_by_every_way_out()
    {
        Random random = Seeds.New(output);
        BufferPool<byte> pool = NewPool<byte>();
        BufferPool<byte> slabs = NewPool<byte>(new() { Source = new SlabSource<byte>() });
        for (int sequence = 0; sequence < Sequences; sequence++)
        {
            using PooledMemoryStream stream = random.Next(5) switch
            {
                0 => new PooledMemoryStream(pool),
                1 => new PooledMemoryStream(pool.AsArrayPool()),
                2 => new PooledMemoryStream(slabs),
                3 => PooledMemoryStream.Rent(),
                _ =>
                    new PooledMemoryStream(
                        new PooledMemoryStreamOptions
                        {
                            Pool = pool,
                            ZeroOnReturn = random.Next(2) == 0,
                            InitialSize = random.Next(10_000),
                        }),
            };
            List<byte> model = [];
            List<(byte[] Mine, byte[] Copy)> appended = [];
            for (int step = random.Next(25); step >= 0; step--)
            {
                string act = Act(random, stream, model, appended);
                Assert.True(stream.FindFault() is null, $"sequence {sequence}, after {act}: {stream.FindFault()}");
                Assert.Equal(model.Count, stream.Length);
            }

            Assert.True(model.SequenceEqual(stream.ToArray()), $"sequence {sequence}");
            Assert.True(model.SequenceEqual(stream.GetReadOnlySequence().ToArray()), $"sequence {sequence}");
            Assert.All(appended, a => Assert.True(a.Mine.AsSpan().SequenceEqual(a.Copy), "The caller's memory was written to."));
            if (random.Next(2) == 0)
            {
                Assert.True(model.SequenceEqual(stream.ToUnsafeArraySegment()), $"sequence {sequence}");
            }

            if (random.Next(3) == 0)
            {
                using BufferLease<byte> lease = stream.Detach();
                Assert.True(model.SequenceEqual(lease.Span.ToArray()), $"sequence {sequence}");
            }
        }
    }

    private static string Act(Random random, PooledMemoryStream stream, List<byte> model, List<(byte[] Mine, byte[] Copy)> appended)
    {
        byte[] data = new byte[random.Next(random.Next(10) == 0 ? 9000 : 300)];
        random.NextBytes(data);
        int choice = random.Next(9);
        switch (choice)
        {
            case 0 or 1:
                stream.Append(data);
                appended.Add((data, [.. data]));
                model.AddRange(data);
                Assert.Equal(model.Count, stream.Position);
                break;
            case 2:
                int length = random.Next(model.Count + 500);
                stream.SetLength(length);
                Resize(model, length);
                break;
            case 3:
                stream.Reserve(random.Next(20_000));
                break;
            case 4:
                stream.Position = random.Next(model.Count + 50);
                break;
            case 5:
                Memory<byte> memory = stream.GetMemory(random.Next(data.Length + 1));
                int count = Math.Min(memory.Length, data.Length);
                memory.Span.Fill(0xCC);
                data.AsSpan(0, count).CopyTo(memory.Span);
                long here = stream.Position;
                int part = random.Next(count + 1);
                stream.Advance(part);
                stream.Advance(count - part);
                if (count > 0)
                {
                    Overwrite(model, (int)here, data.AsSpan(0, count));
                }

                break;
            case 6:
                Assert.True(model.SequenceEqual(stream.GetBuffer()[..model.Count]));
                break;
            default:
                int position = (int)stream.Position;
                stream.Write(data);
                Overwrite(model, position, data);
                break;
        }

        return choice switch
        {
            0 or 1 => "Append",
            2 => "SetLength",
            3 => "Reserve",
            4 => "Position",
            5 => "Advance",
            6 => "GetBuffer",
            _ => "Write",
        };
    }

    private static void Overwrite(List<byte> model, int position, ReadOnlySpan<byte> data)
    {
        Resize(model, Math.Max(model.Count, position + data.Length));
        data.CopyTo(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(model)[position..]);
    }

    private static void Resize(List<byte> model, int length)
    {
        if (length < model.Count)
        {
            model.RemoveRange(length, model.Count - length);
        }
        else
        {
            model.AddRange(new byte[length - model.Count]);
        }
    }
}
