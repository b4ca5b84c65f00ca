using System.Buffers;
using System.IO.Pipelines;
using Tidepool.Tests.Compatibility;
using Xunit.Abstractions;

namespace Tidepool.Native.Tests;

/// <summary>What any memory pool must do.</summary>
public sealed class NativeMemoryPoolCompatibilityTests : MemoryPoolCompatibility
{
    private readonly NativeMemoryPool<int> _pool = new(checks: PoolChecks.Default);

    public NativeMemoryPoolCompatibilityTests(ITestOutputHelper output)
        : base(output)
    {
    }

    protected override MemoryPool<int> Pool => _pool;

    protected override bool HasArrays => false;

    protected override void Dispose(bool disposing)
    {
        Assert.Equal(0, _pool.GetStatistics().Leased);
        _pool.Validate();
        _pool.Dispose();
        base.Dispose(disposing);
    }
}

public sealed class NativeMemoryPoolTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(0)]
    [InlineData(64)]
    [InlineData(4096)]
    [InlineData(1 << 20)]
    public unsafe void Memory_is_aligned_and_exactly_as_long_as_asked(int alignment)
    {
        using NativeMemoryPool<short> pool = new(alignment);
        foreach (int length in (int[])[0, 1, 31, 1000, 100_000])
        {
            using IMemoryOwner<short> owner = pool.Rent(length);
            Assert.Equal(length, owner.Memory.Length);
            using MemoryHandle pin = owner.Memory.Pin();
            Assert.Equal(0, (nint)pin.Pointer % Math.Max(alignment, 16));
        }

        using IMemoryOwner<short> usual = pool.Rent();
        Assert.Equal(2048, usual.Memory.Length);
    }

    [Fact]
    public void Arguments_out_of_range_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeMemoryPool<byte>(alignment: 3));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeMemoryPool<byte>(alignment: -16));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeMemoryPool<byte>(budget: -1));
    }

    [Fact]
    public void A_steady_renter_allocates_nothing()
    {
        using NativeMemoryPool<byte> pool = new(checks: PoolChecks.Default);
        Assert.Equal(0, Allocations.Each(() =>
        {
            using IMemoryOwner<byte> owner = pool.Rent(1000);
            owner.Memory.Span[999] = 1;
        }));
        Assert.Equal(1, pool.GetStatistics().Missed);
    }

    [Fact]
    public void What_is_out_outlives_the_pool_and_is_freed_on_its_return()
    {
        long live = NativePressure.Live;
        NativeMemoryPool<byte> pool = new();
        IMemoryOwner<byte> owner = pool.Rent(100_000);
        pool.Rent(50_000).Dispose();
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(1));
        owner.Memory.Span.Fill(1);
        Assert.InRange(NativePressure.Live - live, 100_000, 150_000);
        owner.Dispose();
        Assert.Equal(live, NativePressure.Live);
    }

    [Fact]
    public void A_trim_gives_idle_memory_back_and_a_budget_bounds_it()
    {
        using NativeMemoryPool<byte> pool = new(budget: 500_000, name: "bounded");
        IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent(50_000))];
        Array.ForEach(owners, o => o.Dispose());
        Assert.InRange(pool.GetStatistics().BytesIdle, 1, 500_000);
        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        pool.Validate();
    }

    [Fact]
    public async Task A_pipe_over_native_memory_copies_what_is_written()
    {
        using NativeMemoryPool<byte> pool = new();
        Pipe pipe = new(new PipeOptions(pool));
        byte[] data = new byte[1_000_000];
        Seeds.New(output).NextBytes(data);
        Task writing = Task.Run(async () =>
        {
            for (int at = 0; at < data.Length; at += 10_000)
            {
                await pipe.Writer.WriteAsync(data.AsMemory(at, 10_000));
            }

            await pipe.Writer.CompleteAsync();
        });
        byte[] copy = new byte[data.Length];
        int done = 0;
        while (true)
        {
            ReadResult read = await pipe.Reader.ReadAsync();
            read.Buffer.CopyTo(copy.AsSpan(done));
            done += (int)read.Buffer.Length;
            pipe.Reader.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted)
            {
                break;
            }
        }

        await pipe.Reader.CompleteAsync();
        await writing;
        Assert.Equal(data, copy);
        Assert.Equal(0, pool.GetStatistics().Leased);
        Assert.True(pool.GetStatistics().Rented > 100);
    }
}
