using System.Buffers;
using System.IO.Pipelines;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Compatibility;

/// <summary>Every memory pool of ours as the pool of a pipe and of the stream adapters.</summary>
public sealed class PipeTests(ITestOutputHelper output) : PoolTest
{
    private readonly List<IDisposable> _pools = [];

    public static TheoryData<string> Kinds => ["adapter", "fresh", "reused", "unguarded", "slab", "pinned"];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_copy_in_random_chunks_arrives_unchanged(string kind)
    {
        Random random = Seeds.New(output);
        CountingPool pool = Pool(kind);
        Pipe pipe = new(new PipeOptions(pool));
        byte[] data = new byte[3_000_000];
        random.NextBytes(data);
        int writeSeed = random.Next();
        int readSeed = random.Next();
        Task writing = WriteAsync(pipe.Writer, data, new Random(writeSeed));
        byte[] copy = await ReadAsync(pipe.Reader, new Random(readSeed)).WaitAsync(Eventually.Limit);
        await writing.WaitAsync(Eventually.Limit);
        Assert.True(data.AsSpan().SequenceEqual(copy));
        Assert.Equal(0, pool.Out);
        Assert.True(pool.Rents > 100, $"{pool.Rents} blocks");
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Many_pipes_on_many_threads_share_a_pool(string kind)
    {
        CountingPool pool = Pool(kind);
        Task[] copies = [.. Enumerable.Range(0, 16).Select(i => Task.Run(async () =>
        {
            Random random = new(i);
            Pipe pipe = new(new PipeOptions(pool));
            byte[] data = new byte[300_000];
            random.NextBytes(data);
            Task writing = Task.Run(() => WriteAsync(pipe.Writer, data, new Random(i + 100)));
            byte[] copy = await ReadAsync(pipe.Reader, new Random(i + 200));
            await writing;
            Assert.True(data.AsSpan().SequenceEqual(copy));
        }))];
        await Task.WhenAll(copies).WaitAsync(Eventually.Limit);
        Assert.Equal(0, pool.Out);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_writer_waits_above_the_threshold_and_goes_on_below(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool, pause: 64, resume: 32));
        Fill(pipe.Writer, 64);
        ValueTask<FlushResult> flush = pipe.Writer.FlushAsync();
        Assert.False(flush.IsCompleted);
        ReadResult read = await pipe.Reader.ReadAsync();
        pipe.Reader.AdvanceTo(read.Buffer.GetPosition(32));
        Assert.False(flush.IsCompleted);
        read = await pipe.Reader.ReadAsync();
        pipe.Reader.AdvanceTo(read.Buffer.GetPosition(1));
        Assert.True(flush.IsCompleted);
        Assert.False((await flush).IsCompleted);
        Complete(pipe);
        Assert.Equal(0, pool.Out);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Reading_to_the_end_returns_every_block(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool));
        await FillBlocks(pipe, pool, 3);
        ReadResult read = await pipe.Reader.ReadAsync();
        pipe.Reader.AdvanceTo(read.Buffer.End);
        Assert.Equal(0, pool.Out);
        Assert.Equal(3, pool.Returns);
        Complete(pipe);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Reading_to_the_end_keeps_the_block_that_is_written_to(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool));
        await FillBlocks(pipe, pool, 3);
        ReadResult read = await pipe.Reader.ReadAsync();
        Fill(pipe.Writer, 100);
        pipe.Reader.AdvanceTo(read.Buffer.End);
        await pipe.Writer.FlushAsync();
        Assert.Equal(1, pool.Out);
        Complete(pipe);
        Assert.Equal(0, pool.Out);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Completing_with_data_left_returns_every_block_once(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool));
        await FillBlocks(pipe, pool, 5);
        Complete(pipe);
        Assert.Equal((0, 5), (pool.Out, pool.Returns));
        Complete(pipe);
        Assert.Equal((0, 5), (pool.Out, pool.Returns));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Completing_returns_a_block_that_was_never_advanced(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool));
        pipe.Writer.GetMemory(512);
        Assert.Equal(1, pool.Out);
        Complete(pipe);
        Assert.Equal((0, 1), (pool.Out, pool.Returns));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Asking_for_a_larger_block_returns_the_empty_smaller_one(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(new PipeOptions(pool, minimumSegmentSize: 1024, useSynchronizationContext: false));
        int first = pipe.Writer.GetMemory(512).Length;
        Assert.True(first >= 512);
        int larger = Math.Min(first + 1, pool.MaxBufferSize);
        Assert.True(pipe.Writer.GetMemory(larger).Length >= larger);
        Complete(pipe);
        Assert.Equal(0, pool.Out);
        Assert.Equal(pool.Rents, pool.Returns);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_request_above_the_largest_block_is_served_outside_of_the_pool(string kind)
    {
        CountingPool pool = Pool(kind);
        if (pool.MaxBufferSize > 1 << 20)
        {
            return;
        }

        Pipe pipe = new(Inline(pool));
        Fill(pipe.Writer, pool.MaxBufferSize + 1);
        await pipe.Writer.FlushAsync();
        Assert.Equal(0, pool.Rents);
        ReadResult read = await pipe.Reader.ReadAsync();
        Assert.Equal(pool.MaxBufferSize + 1, read.Buffer.Length);
        pipe.Reader.AdvanceTo(read.Buffer.End);
        Fill(pipe.Writer, pool.MaxBufferSize);
        await pipe.Writer.FlushAsync();
        Assert.Equal(1, pool.Out);
        Complete(pipe);
        Assert.Equal(0, pool.Out);
    }

    [Theory]
    [InlineData("adapter")]
    [InlineData("fresh")]
    [InlineData("reused")]
    public void Segments_have_exactly_the_size_that_the_pipe_asks_for(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(
            new PipeOptions(
                pool,
                minimumSegmentSize: 2020,
                readerScheduler: PipeScheduler.Inline,
                writerScheduler: PipeScheduler.Inline,
                useSynchronizationContext: false));
        Memory<byte> first = pipe.Writer.GetMemory(512);
        Assert.Equal(2020, first.Length);
        pipe.Writer.Advance(first.Length);
        Memory<byte> second = pipe.Writer.GetMemory(3333);
        Assert.Equal(pool.LastAsked, second.Length);
        Assert.True(second.Length >= 3333);
        Complete(pipe);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_cancelled_read_and_a_cancelled_flush_lose_no_block(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool, pause: 64, resume: 32));
        ValueTask<ReadResult> pending = pipe.Reader.ReadAsync();
        pipe.Reader.CancelPendingRead();
        ReadResult cancelled = await pending;
        Assert.True(cancelled.IsCanceled);
        pipe.Reader.AdvanceTo(cancelled.Buffer.End);

        using CancellationTokenSource source = new();
        ValueTask<ReadResult> withToken = pipe.Reader.ReadAsync(source.Token);
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await withToken);

        Fill(pipe.Writer, 100);
        ValueTask<FlushResult> flush = pipe.Writer.FlushAsync();
        Assert.False(flush.IsCompleted);
        pipe.Writer.CancelPendingFlush();
        Assert.True((await flush).IsCanceled);
        Complete(pipe);
        Assert.Equal(0, pool.Out);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Writing_to_a_completed_reader_keeps_no_block(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool));
        await pipe.Reader.CompleteAsync();
        for (int i = 0; i < 2000; i++)
        {
            await pipe.Writer.WriteAsync(new byte[100]);
        }

        Assert.Equal(0, pool.Out);
        for (int i = 0; i < 100; i++)
        {
            pipe.Writer.Advance(pipe.Writer.GetMemory().Length);
            await pipe.Writer.FlushAsync();
        }

        await pipe.Writer.CompleteAsync();
        Assert.Equal(0, pool.Out);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_pipe_can_be_reset_and_used_again(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool));
        for (int round = 0; round < 5; round++)
        {
            await pipe.Writer.WriteAsync(new byte[10_000]);
            ReadResult read = await pipe.Reader.ReadAtLeastAsync(10_000);
            Assert.Equal(10_000, read.Buffer.Length);
            pipe.Reader.AdvanceTo(read.Buffer.End);
            Complete(pipe);
            Assert.Equal(0, pool.Out);
            pipe.Reset();
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Byte_after_byte_is_written_and_read(string kind)
    {
        CountingPool pool = Pool(kind);
        Pipe pipe = new(Inline(pool, pause: 0, resume: 0));
        for (int i = 0; i < 50_000; i++)
        {
            pipe.Writer.GetMemory(100).Span[0] = (byte)i;
            pipe.Writer.Advance(1);
            await pipe.Writer.FlushAsync();
        }

        ReadResult read = await pipe.Reader.ReadAsync();
        byte[] all = read.Buffer.ToArray();
        Assert.Equal(50_000, all.Length);
        for (int i = 0; i < all.Length; i++)
        {
            Assert.Equal((byte)i, all[i]);
        }

        pipe.Reader.AdvanceTo(read.Buffer.End);
        Complete(pipe);
        Assert.Equal(0, pool.Out);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_stream_reader_and_a_stream_writer_return_every_block(string kind)
    {
        CountingPool pool = Pool(kind);
        byte[] data = new byte[20_000];
        new Random(1).NextBytes(data);
        using MemoryStream target = new();
        PipeReader reader = PipeReader.Create(
            new MemoryStream(data), new StreamPipeReaderOptions(pool, bufferSize: 2048, minimumReadSize: 512));
        PipeWriter writer = PipeWriter.Create(target, new StreamPipeWriterOptions(pool, minimumBufferSize: 1000, leaveOpen: true));
        while (true)
        {
            ReadResult read = await reader.ReadAsync();
            foreach (ReadOnlyMemory<byte> part in read.Buffer)
            {
                await writer.WriteAsync(part);
            }

            reader.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted)
            {
                break;
            }
        }

        await reader.CompleteAsync();
        await writer.CompleteAsync();
        Assert.Equal(data, target.ToArray());
        Assert.Equal(0, pool.Out);
        Assert.True(pool.Rents > 0);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_stream_reader_that_is_completed_early_returns_what_it_holds(string kind)
    {
        CountingPool pool = Pool(kind);
        PipeReader reader = PipeReader.Create(
            new MemoryStream(new byte[4096 * 3]),
            new StreamPipeReaderOptions(pool, bufferSize: 4096, minimumReadSize: 1024));
        while (true)
        {
            ReadResult read = await reader.ReadAsync();
            reader.AdvanceTo(read.Buffer.Start, read.Buffer.End);
            if (read.IsCompleted)
            {
                break;
            }
        }

        Assert.True(pool.Out >= 3);
        await reader.CompleteAsync();
        Assert.Equal(0, pool.Out);
    }

    /// <summary>
    /// The way a server uses its pool: a transport thread fills blocks, an application thread reads them, responses go the other way.
    /// </summary>
    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Connections_of_a_server_echo_and_return_every_block(string kind)
    {
        CountingPool pool = Pool(kind);
        Task[] connections = [.. Enumerable.Range(0, 24).Select(i => ConnectionAsync(pool, i))];
        await Task.WhenAll(connections).WaitAsync(Eventually.Limit);
        Assert.Equal(0, pool.Out);
    }

    protected override void Dispose(bool disposing)
    {
        _pools.ForEach(p => p.Dispose());
        base.Dispose(disposing);
    }

    private static async Task ConnectionAsync(MemoryPool<byte> pool, int seed)
    {
        Pipe input = new(
            new PipeOptions(
                pool,
                readerScheduler: PipeScheduler.ThreadPool,
                writerScheduler: PipeScheduler.Inline,
                pauseWriterThreshold: 1 << 16,
                resumeWriterThreshold: 1 << 15,
                minimumSegmentSize: 4096 / 2,
                useSynchronizationContext: false));
        Pipe output = new(
            new PipeOptions(
                pool,
                readerScheduler: PipeScheduler.Inline,
                writerScheduler: PipeScheduler.ThreadPool,
                pauseWriterThreshold: 1 << 16,
                resumeWriterThreshold: 1 << 15,
                minimumSegmentSize: 4096 / 2,
                useSynchronizationContext: false));
        Random random = new(seed);
        byte[] sent = new byte[200_000];
        random.NextBytes(sent);
        Task application = Task.Run(async () =>
        {
            while (true)
            {
                ReadResult read = await input.Reader.ReadAsync();
                foreach (ReadOnlyMemory<byte> part in read.Buffer)
                {
                    output.Writer.Write(part.Span);
                }

                input.Reader.AdvanceTo(read.Buffer.End);
                await output.Writer.FlushAsync();
                if (read.IsCompleted)
                {
                    break;
                }
            }

            await input.Reader.CompleteAsync();
            await output.Writer.CompleteAsync();
        });
        Task transport = Task.Run(() => WriteAsync(input.Writer, sent, new Random(seed)));
        byte[] received = await ReadAsync(output.Reader, new Random(seed));
        await Task.WhenAll(application, transport);
        Assert.True(sent.AsSpan().SequenceEqual(received));
    }

    private static async Task WriteAsync(PipeWriter writer, ReadOnlyMemory<byte> data, Random random)
    {
        while (data.Length > 0)
        {
            int size = Math.Min(data.Length, 1 + (int)Math.Exp(random.NextDouble() * Math.Log(9000)));
            if (random.Next(2) == 0)
            {
                Memory<byte> block = writer.GetMemory(Math.Min(size, 3000));
                size = Math.Min(size, block.Length);
                data.Span[..size].CopyTo(block.Span);
                writer.Advance(size);
            }
            else
            {
                writer.Write(data.Span[..size]);
            }

            data = data[size..];
            if (random.Next(3) == 0)
            {
                await writer.FlushAsync();
            }
        }

        await writer.FlushAsync();
        await writer.CompleteAsync();
    }

    private static async Task<byte[]> ReadAsync(PipeReader reader, Random random)
    {
        using MemoryStream copy = new();
        while (true)
        {
            ReadResult read = await reader.ReadAsync();
            ReadOnlySequence<byte> buffer = read.Buffer;
            long take = read.IsCompleted || random.Next(4) == 0 ? buffer.Length : random.NextInt64(buffer.Length + 1);
            foreach (ReadOnlyMemory<byte> part in buffer.Slice(0, take))
            {
                copy.Write(part.Span);
            }

            reader.AdvanceTo(buffer.GetPosition(take));
            if (read.IsCompleted)
            {
                break;
            }
        }

        await reader.CompleteAsync();
        return copy.ToArray();
    }

    private static void Fill(PipeWriter writer, int size)
    {
        writer.GetSpan(size)[..size].Clear();
        writer.Advance(size);
    }

    private static async Task FillBlocks(Pipe pipe, CountingPool pool, int blocks)
    {
        while (pool.Out < blocks)
        {
            Fill(pipe.Writer, 512);
            await pipe.Writer.FlushAsync();
        }
    }

    private static void Complete(Pipe pipe)
    {
        pipe.Writer.Complete();
        pipe.Reader.Complete();
    }

    private static PipeOptions Inline(MemoryPool<byte> pool, long pause = 0, long resume = 0) =>
        new(
            pool,
            readerScheduler: PipeScheduler.Inline,
            writerScheduler: PipeScheduler.Inline,
            pauseWriterThreshold: pause,
            resumeWriterThreshold: resume,
            useSynchronizationContext: false);

    private CountingPool Pool(string kind)
    {
        MemoryPool<byte> pool = kind switch
        {
            "adapter" => NewPool<byte>(new() { Name = "pipe adapter" }).AsMemoryPool(),
            "fresh" => new PooledMemoryPool<byte>(NewPool<byte>(new() { Name = "pipe fresh" })),
            "reused" => new PooledMemoryPool<byte>(NewPool<byte>(new() { Name = "pipe reused" }), OwnerReuse.Guarded),
            "unguarded" => new PooledMemoryPool<byte>(NewPool<byte>(new() { Name = "pipe unguarded" }), OwnerReuse.Unguarded),
            "slab" => new SlabMemoryPool<byte>(),
            "pinned" => new PinnedMemoryPool<byte>(),
            _ => throw new ArgumentOutOfRangeException(nameof(kind)),
        };
        _pools.Add(pool);
        return new CountingPool(pool);
    }

    /// <summary>Counts what goes through; an owner that a pipe disposes twice or never shows in the counts.</summary>
    private sealed class CountingPool(MemoryPool<byte> inner) : MemoryPool<byte>
    {
        private int _rents;
        private int _returns;

        public int Rents => Volatile.Read(ref _rents);

        public int Returns => Volatile.Read(ref _returns);

        public int Out => Rents - Returns;

        public int LastAsked { get; private set; }

        public override int MaxBufferSize => inner.MaxBufferSize;

        public override IMemoryOwner<byte> Rent(int minBufferSize = -1)
        {
            LastAsked = minBufferSize;
            IMemoryOwner<byte> owner = inner.Rent(minBufferSize);
            Interlocked.Increment(ref _rents);
            return new Counted(owner, this);
        }

        protected override void Dispose(bool disposing)
        {
        }

        private sealed class Counted(IMemoryOwner<byte> owner, CountingPool pool) : IMemoryOwner<byte>
        {
            public Memory<byte> Memory => owner.Memory;

            public void Dispose()
            {
                Interlocked.Increment(ref pool._returns);
                owner.Dispose();
            }
        }
    }
}
