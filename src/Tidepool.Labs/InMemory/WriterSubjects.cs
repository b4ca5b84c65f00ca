using System.Buffers;
using System.IO.Pipelines;
using CommunityToolkit.HighPerformance.Buffers;
using Microsoft.Extensions.ObjectPool;

namespace Tidepool.Labs;

/// <summary>What the platform has.</summary>
internal readonly struct PlainWriter(ArrayBufferWriter<byte> writer) : IWriterSubject<PlainWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static PlainWriter Open() => new(new ArrayBufferWriter<byte>());

    /// <inheritdoc/>
    public long Close() => writer.WrittenSpan.Length;
}

/// <summary>The pooled writer of CommunityToolkit.</summary>
internal readonly struct ToolkitWriter(ArrayPoolBufferWriter<byte> writer) : IWriterSubject<ToolkitWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static ToolkitWriter Open() => new(new ArrayPoolBufferWriter<byte>());

    /// <inheritdoc/>
    public long Close()
    {
        long length = writer.WrittenSpan.Length;
        writer.Dispose();
        return length;
    }
}

/// <summary>A pipe that is not read from before all is written.</summary>
internal readonly struct PipeWriterSubject(Pipe pipe) : IWriterSubject<PipeWriterSubject>
{
    private static readonly PipeOptions Options = new(pauseWriterThreshold: 0, useSynchronizationContext: false);

    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => pipe.Writer;

    /// <inheritdoc/>
    public static PipeWriterSubject Open() => new(new Pipe(Options));

    /// <inheritdoc/>
    public long Close()
    {
        pipe.Writer.Complete();
        pipe.Reader.TryRead(out ReadResult result);
        long length = result.Buffer.Length;
        pipe.Reader.AdvanceTo(result.Buffer.End);
        pipe.Reader.Complete();
        return length;
    }
}

/// <summary>Ours in one piece.</summary>
internal readonly struct ContiguousWriter(PooledBufferWriter<byte> writer) : IWriterSubject<ContiguousWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static ContiguousWriter Open() => new(new PooledBufferWriter<byte>());

    /// <inheritdoc/>
    public long Close()
    {
        long length = writer.WrittenSpan.Length;
        writer.Dispose();
        return length;
    }
}

/// <summary>Ours in one piece, in Microsoft's object pool with the classic ritual.</summary>
internal readonly struct ObjectPoolWriter(PooledBufferWriter<byte> writer) : IWriterSubject<ObjectPoolWriter>
{
    private static readonly Microsoft.Extensions.ObjectPool.ObjectPool<PooledBufferWriter<byte>> Pool =
        ObjectPool.Create<PooledBufferWriter<byte>>();

    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static ObjectPoolWriter Open() => new(Pool.Get());

    /// <inheritdoc/>
    public long Close()
    {
        long length = writer.WrittenSpan.Length;
        writer.Reset();
        Pool.Return(writer);
        return length;
    }
}

/// <summary>Ours in segments.</summary>
internal readonly struct SegmentedWriter(PooledSequenceWriter<byte> writer) : IWriterSubject<SegmentedWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static SegmentedWriter Open() => new(new PooledSequenceWriter<byte>());

    /// <inheritdoc/>
    public long Close()
    {
        long length = writer.GetReadOnlySequence().Length;
        writer.Dispose();
        return length;
    }
}

/// <summary>Our stream as a writer.</summary>
internal readonly struct StreamWriterSubject(StreamLease lease) : IWriterSubject<StreamWriterSubject>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => lease.Stream;

    /// <inheritdoc/>
    public static StreamWriterSubject Open() => new(PooledMemoryStream.RentLease());

    /// <inheritdoc/>
    public long Close()
    {
        long length = lease.Stream.GetReadOnlySequence().Length;
        lease.Dispose();
        return length;
    }
}
