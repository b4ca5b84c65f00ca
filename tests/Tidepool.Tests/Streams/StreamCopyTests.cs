using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>Copies whose target keeps what it got, throws or interferes.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class StreamCopyTests : PoolTest
{
    private static readonly byte[] Data = TestData.Random(500_000);

    [Fact]
    public async Task Zero_on_return_zeroes_what_copies_went_through()
    {
        byte[] secret = Enumerable.Repeat((byte)0x5E, 150_000).ToArray();
        using var target = new KeepingTarget();
        using (var stream = new PooledMemoryStream(new PooledMemoryStreamOptions { ZeroOnReturn = true }))
        {
            for (int i = 0; i < secret.Length; i += 1000)
            {
                stream.Write(secret, i, 1000);
            }

            stream.Position = 0;
            stream.CopyTo(target);
            stream.Position = 0;
            await stream.CopyToAsync(target);
            stream.SetLength(5000);
            stream.Position = 0;
            stream.WriteTo(stream);
        }

        Assert.NotEmpty(target.Arrays);
        Assert.All(target.Arrays, a => Assert.DoesNotContain((byte)0x5E, a));
        using BufferLease<byte> next = BufferPool<byte>.Shared.Rent(5000);
        Assert.DoesNotContain((byte)0x5E, next.Span.ToArray());
    }

    [Fact]
    public void What_a_target_throws_instead_of_a_task_goes_to_the_caller()
    {
        using var target = new ThrowsAtOnce();
        foreach (MemoryStream stream in new[] { new MemoryStream(), new PooledMemoryStream() })
        {
            using (stream)
            {
                stream.Write(Data);
                stream.Position = 0;
                Assert.Throws<FormatException>(() => { _ = stream.CopyToAsync(target); });
                Assert.Equal(Data.Length, stream.Position);
            }
        }
    }

    [Fact]
    public async Task A_copy_of_a_stream_that_the_target_makes_shorter_throws()
    {
        Action<PooledMemoryStream>[] acts =
            [s => s.SetLength(0), s => s.Capacity = 0, s => s.TryReset(), s => s.Detach().Dispose()];
        foreach (Action<PooledMemoryStream> act in acts)
        {
            using var stream = new PooledMemoryStream();
            using var target = new Interferes(() => { stream.SetLength(0); act(stream); });
            stream.Write(Data);
            stream.Write(Data);
            stream.Write(Data);
            stream.Position = 0;
            Assert.Throws<InvalidOperationException>(() => stream.CopyTo(target));
            Assert.Null(stream.FindFault());
            stream.SetLength(1_500_000);
            stream.Position = 0;
            await Assert.ThrowsAsync<InvalidOperationException>(() => stream.CopyToAsync(target));
            Assert.Null(stream.FindFault());
        }
    }

    private sealed class ThrowsAtOnce : TargetStream
    {
        public override void Write(byte[] buffer, int offset, int count) => throw new FormatException();

        public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
            throw new FormatException();

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
            throw new FormatException();
    }

    private sealed class Interferes(Action act) : TargetStream
    {
        public override void Write(byte[] buffer, int offset, int count) => act();
    }

    [Theory]
    [InlineData(0, 1000)]
    [InlineData(1000, 0)]
    [InlineData(0, 700_000)]
    public void A_copy_in_parts_moves_memory_that_overlaps(int from, int to)
    {
        const int Length = (2 * StreamCore.MaxCopy) + 100;
        byte[] memory = new byte[700_000 + Length];
        new Random(1).NextBytes(memory);
        byte[] expected = memory[from..(from + Length)];
        StreamCore.Copy(memory.AsSpan(from, Length), memory.AsSpan(to));
        Assert.True(expected.AsSpan().SequenceEqual(memory.AsSpan(to, Length)));
    }
}
