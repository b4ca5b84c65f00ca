using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>Nodes and tables on their way from one long stream to the next.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class SpareSegmentsTests : PoolTest
{
    private const int SegmentLength = 4096;
    private const int ManySegments = 300; // more than the table of a core has places, and more nodes than it keeps

    [Fact]
    public void A_leased_stream_of_many_segments_allocates_nothing()
    {
        PooledMemoryStreamOptions options = new() { Pool = NewPool<byte>(new() { Source = new ShortSource(SegmentLength) }) };
        byte[] data = new byte[SegmentLength * ManySegments];
        Assert.Equal(0, AllocatedByEach(options, data, ManySegments));
    }

    [Fact]
    public void Asking_how_much_memory_there_is_allocates_nothing_once_known()
    {
        const int Segments = 20;
        byte[] data = new byte[Segments << 20]; // more than a stream takes without asking
        Assert.Equal(0, AllocatedByEach(new PooledMemoryStreamOptions(), data, Segments));
    }

    [Fact]
    public void Nodes_serve_again_and_their_number_is_bounded()
    {
        var budget = new Budget(long.MaxValue, null);
        var spares = new SpareSegments(budget.TryCharge, budget.Refund);
        Assert.Null(spares.TakeNodes(3, out int none));
        Assert.Equal(0, none);

        StreamSegment[] nodes = NewChain(5);
        spares.PutNodes(nodes[0], nodes.Length);
        Assert.Equal(5, spares.Count);
        StreamSegment first = spares.TakeNodes(3, out int taken)!;
        Assert.Equal((3, 2), (taken, spares.Count));
        Assert.Equal(3, LengthOf(first));
        Assert.Equal(2, LengthOf(spares.TakeNodes(100, out int rest)!));
        Assert.Equal((2, 0, 0L), (rest, spares.Count, budget.Used));

        spares.PutNodes(NewChain(SpareSegments.MostNodes + 10)[0], SpareSegments.MostNodes + 10);
        Assert.Equal(SpareSegments.MostNodes, spares.Count);
    }

    [Fact]
    public void A_table_serves_a_stream_that_needs_no_longer_one()
    {
        var budget = new Budget(long.MaxValue, null);
        var spares = new SpareSegments(budget.TryCharge, budget.Refund);
        var table = new StreamSegment[256];
        spares.PutTable(table);
        Assert.Equal(512, spares.TakeTable(512).Length);
        Assert.Same(table, spares.TakeTable(128));
        Assert.NotSame(table, spares.TakeTable(128));
    }

    [Fact]
    public void What_no_stream_asks_for_is_given_up()
    {
        var budget = new Budget(long.MaxValue, null);
        var spares = new SpareSegments(budget.TryCharge, budget.Refund);
        spares.PutNodes(NewChain(10)[0], 10);
        spares.PutTable(new StreamSegment[128]);
        spares.TakeNodes(1, out _);
        spares.Trim();
        Assert.Equal(9, spares.Count); // one was asked for
        spares.Trim();
        Assert.Equal((0, 0L), (spares.Count, budget.Used));
        Assert.Equal(200, spares.TakeTable(200).Length);
    }

    [Fact]
    public void Without_room_in_the_budget_nothing_waits()
    {
        var budget = new Budget(10, null);
        var spares = new SpareSegments(budget.TryCharge, budget.Refund);
        spares.PutNodes(NewChain(10)[0], 10);
        spares.PutTable(new StreamSegment[128]);
        Assert.Equal((0, 0L), (spares.Count, budget.Used));
    }

    [Fact]
    public void Segments_go_back_in_the_order_of_the_content()
    {
        var pool = new RecordingPool();
        using (var stream = new PooledMemoryStream(pool))
        {
            stream.Write(new byte[5 << 20]);
        }

        Assert.Equal(5, pool.Rented.Count);
        Assert.True(pool.Rented.SequenceEqual(pool.Returned, ReferenceEqualityComparer.Instance)); // their contents are all the same
    }

    private static double AllocatedByEach(PooledMemoryStreamOptions options, byte[] data, int segments) => Allocations.Each(
        () =>
        {
            using StreamLease lease = PooledMemoryStream.RentLease(options);
            lease.Stream.Write(data);
            if (lease.Stream.Core.SegmentCount != segments)
            {
                throw new InvalidOperationException("The content lies in another number of segments.");
            }
        },
        operations: 20,
        warmUp: 3 * Magazine.RestingPlaces);

    private static StreamSegment[] NewChain(int count)
    {
        var nodes = new StreamSegment[count];
        for (int i = count - 1; i >= 0; i--)
        {
            nodes[i] = new StreamSegment();
            nodes[i].LinkSpare(i + 1 < count ? nodes[i + 1] : null);
        }

        return nodes;
    }

    private static int LengthOf(StreamSegment first)
    {
        int length = 0;
        for (StreamSegment? node = first; node is not null; node = (StreamSegment?)node.Next)
        {
            length++;
        }

        return length;
    }

    private sealed class RecordingPool : ArrayPool<byte>
    {
        internal List<byte[]> Rented { get; } = [];

        internal List<byte[]> Returned { get; } = [];

        public override byte[] Rent(int minimumLength)
        {
            Rented.Add(new byte[minimumLength]);
            return Rented[^1];
        }

        public override void Return(byte[] array, bool clearArray = false) => Returned.Add(array);
    }
}
