using System.Buffers;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Streams;

/// <summary>What a stream allocates, to the byte.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class StreamAllocationTests(ITestOutputHelper output) : PoolTest
{
    private const int LargeObject = 85_000; // bytes, from which on an object is made on the large object heap

    private static readonly byte[] Data = new byte[200_000];
    private static readonly byte[] Back = new byte[200_000];

    private static MemoryStream? s_kept; // so that the JIT makes it on the heap

    public static TheoryData<int> Lengths => [0, 1, 100, 1000, 5000, 50_000, 200_000];

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_leased_stream_allocates_nothing(int length) => Assert.Equal(0, Allocated(() =>
    {
        using StreamLease lease = PooledMemoryStream.RentLease();
        Use(lease.Stream, length);
    }));

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_new_stream_allocates_its_own_object_and_nothing_else(int length)
    {
        Assert.InRange(Allocated(() => Use(new PooledMemoryStream(), length)), 1, 96);
        Assert.InRange(Allocated(() => Use(PooledMemoryStream.Rent(), length)), 1, 96);
    }

    [Fact]
    public void The_object_is_the_base_and_one_reference()
    {
        double theirs = Allocated(static () => s_kept = new MemoryStream());
        double ours = Allocated(static () => Use(PooledMemoryStream.Rent(), 100));
        output.WriteLine($"MemoryStream {theirs} B, PooledMemoryStream {ours} B");
        Assert.Equal(theirs + IntPtr.Size, ours);
    }

    [Fact]
    public void Reading_the_content_out_allocates_nothing()
    {
        using var stream = new PooledMemoryStream();
        stream.Write(Data);
        Assert.Equal(0, Allocated(() => stream.GetReadOnlySequence()));
        Assert.Equal(0, Allocated(() =>
        {
            stream.Position = 0;
            stream.CopyTo(Stream.Null);
        }));
    }

    [Fact]
    public void Detaching_reserving_and_buffer_writing_allocate_nothing() => Assert.Equal(0, Allocated(() =>
    {
        using StreamLease rental = PooledMemoryStream.RentLease();
        PooledMemoryStream stream = rental.Stream;
        stream.Reserve(4000);
        stream.GetSpan(1000).Clear();
        stream.Advance(1000);
        using BufferLease<byte> lease = stream.Detach();
        _ = lease.Span[999];
    }));

    [Fact]
    public void Asynchronous_reads_and_writes_allocate_nothing()
    {
        using PooledMemoryStream stream = PooledMemoryStream.Rent();
        Assert.Equal(0, Allocated(() =>
        {
            stream.Position = 0;
            stream.WriteAsync(Data, 0, 100).GetAwaiter().GetResult();
            stream.Position = 0;
            stream.ReadAsync(Back, 0, 100).GetAwaiter().GetResult();
        }));
    }

    [Fact]
    public void TryGetBuffer_rents_the_length_and_not_the_capacity()
    {
        Assert.InRange(Allocations.Of(() =>
        {
            using var stream = new PooledMemoryStream(100 << 20);
            stream.Write(Data, 0, 10);
            Assert.True(stream.TryGetBuffer(out ArraySegment<byte> content));
            Assert.Equal(Data[..10], content.ToArray());
            Assert.Equal(100 << 20, stream.Capacity);
        }), 0, 2 << 20);
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(16 << 20)]
    public void No_byte_comes_to_lie_on_the_large_object_heap_once_warm(int step)
    {
        byte[] data = new byte[step];
        for (int i = 0; i < 2 * Magazine.RestingPlaces; i++) // each of the thread's cores makes its nodes once
        {
            WriteLarge(data);
        }

        long most = 0;
        long each = Allocations.Usual(() =>
        {
            long bytes = Allocations.Of(() => WriteLarge(data));
            most = Math.Max(most, bytes);
            return bytes;
        });
        Assert.InRange(each, 0, 1300);
        Assert.InRange(most, each, LargeObject - 1);
        GC.KeepAlive(data);
    }

    private static void WriteLarge(byte[] data)
    {
        using var stream = new PooledMemoryStream();
        for (int written = 0; written < 16 << 20; written += data.Length)
        {
            stream.Write(data);
        }
    }

    /// <summary>What is left of a long content after a reset or a detachment, by which the stream does not end.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_stream_without_content_keeps_few_nodes_and_a_short_table(bool detaches)
    {
        using var stream = new PooledMemoryStream();
        for (int i = 0; i < 1000; i++)
        {
            stream.Append(Data.AsMemory(0, 10));
        }

        if (detaches)
        {
            stream.Detach().Dispose();
        }
        else
        {
            Assert.True(stream.TryReset());
        }

        StreamCore core = CoreOf(stream);
        Assert.InRange(NodesOf(core), 0, 32);
        Assert.InRange(TableOf(core).Length, 0, 64);
        Use(stream, 100_000);
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_core")]
    private static extern ref StreamCore CoreOf(PooledMemoryStream stream);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_spareCount")]
    private static extern ref int NodesOf(StreamCore core);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_segments")]
    private static extern ref StreamSegment[] TableOf(StreamCore core);

    private static void Use(PooledMemoryStream stream, int length)
    {
        using (stream)
        {
            stream.Write(Data, 0, length);
            stream.Position = 0;
            if (stream.Read(Back, 0, length) != length)
            {
                throw new InvalidOperationException("Bytes are missing.");
            }
        }
    }

    /// <remarks>
    /// The pool takes the stack of a core that it watches for leaks at the 1st, 2nd, 4th, 8th ... rental: ever more rarely once it is warm.
    /// </remarks>
    private static double Allocated(Action operation) => Allocations.Each(operation, operations: 500, warmUp: 5000);
}
