// The leases, scopes, streams and writers of Tidepool.
namespace Traps;

internal sealed class Leases
{
    private BufferLease<byte> _lease;

    [Trap("using declaration")]
    public static int Using(BufferPool<byte> pool, Stream stream, int length)
    {
        using BufferLease<byte> lease = pool.Rent(length);
        return stream.Read(lease.Span);
    }

    [Trap("Return instead of Dispose")]
    public static int Returned(BufferPool<byte> pool, Stream stream, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        int read = stream.Read(lease.Span);
        lease.Return();
        return read;
    }

    [Trap("IsActive and Length may be asked after the return")]
    public static bool AskedAfterwards(BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        lease.Return();
        return lease.IsActive;
    }

    [Trap("detached: the array is on its own")]
    public static ArraySegment<byte> Detached(BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        lease.Span.Clear();
        return lease.Detach();
    }

    [Trap("turned into an owner")]
    public static IMemoryOwner<byte> Owner(BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        lease.Span.Clear();
        return lease.ToOwner();
    }

    [Trap("a scope owns it")]
    public static int Scoped(BufferPool<byte> pool, int length)
    {
        using var scope = new LeaseScope();
        BufferLease<byte> lease = scope.Rent(pool, length);
        return lease.Span[0];
    }

    [Trap("a scope owns it")]
    public static int AddedToScope(BufferPool<byte> pool, int length)
    {
        using var scope = new LeaseScope();
        BufferLease<byte> lease = pool.Rent(length);
        scope.Add(lease);
        return lease.Span[0];
    }

    [Trap("a scope used again after its end")]
    public static int ScopedTwice(BufferPool<byte> pool, int length)
    {
        var scope = new LeaseScope();
        scope.Rent(pool, length).Span.Clear();
        scope.Dispose();
        int first = scope.Rent(pool, length).Span[0];
        scope.Dispose();
        return first;
    }

    [Trap("into a field")]
    public void Keep(BufferPool<byte> pool, int length)
    {
        _lease.Dispose();
        _lease = pool.Rent(length);
    }

    [Trap("returned to the caller")]
    public static BufferLease<byte> ToCaller(BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        lease.Span.Clear();
        return lease;
    }

    [Trap("a copy of the struct is returned")]
    public static int Copied(BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        BufferLease<byte> copy = lease;
        int first = copy.Span[0];
        copy.Return();
        return first;
    }

    [Trap("array scope in a using")]
    public static int ArrayScoped(BufferPool<byte> pool, int length)
    {
        using ArrayScope<byte> scope = pool.RentScope(length);
        scope.Span.Fill(1);
        return scope.Array[0];
    }

    [Trap("thread handle in one thread")]
    public static int Handle(BufferPool<byte> pool, int length)
    {
        using ThreadHandle<byte> handle = pool.GetThreadHandle(length);
        BufferLease<byte> lease = handle.Rent(length);
        int first = lease.Span[0];
        handle.Return(lease);
        return first;
    }

    [Trap("thread handle closed before the await")]
    public static async Task<int> HandleThenAwait(BufferPool<byte> pool, Stream stream, int length)
    {
        int first;
        using (ThreadHandle<byte> handle = pool.GetThreadHandle(length))
        {
            using BufferLease<byte> lease = handle.Rent(length);
            first = lease.Span[0];
        }

        await stream.FlushAsync();
        return first;
    }

    [Trap("array scope closed before the await")]
    public static async Task<int> ScopeThenAwait(BufferPool<byte> pool, Stream stream, int length)
    {
        int read;
        using (ArrayScope<byte> scope = pool.RentScope(length))
        {
            read = stream.Read(scope.Span);
        }

        await stream.FlushAsync();
        return read;
    }

    [Trap("a stream in a using")]
    public static long PooledStream(byte[] content)
    {
        using PooledMemoryStream stream = PooledMemoryStream.Rent();
        stream.Write(content, 0, content.Length);
        return stream.Length;
    }

    [Trap("a stream that another object closes")]
    public static StreamReader Reader(byte[] content)
    {
        PooledMemoryStream stream = PooledMemoryStream.Rent();
        stream.Write(content, 0, content.Length);
        stream.Position = 0;
        return new StreamReader(stream);
    }

    [Trap("closed by Close")]
    public static long Closed(byte[] content)
    {
        PooledMemoryStream stream = PooledMemoryStream.Rent();
        stream.Write(content, 0, content.Length);
        long length = stream.Length;
        stream.Close();
        return length;
    }

    [Trap("a stream's lease")]
    public static long StreamLeased(byte[] content)
    {
        using StreamLease lease = PooledMemoryStream.RentLease();
        lease.Stream.Write(content, 0, content.Length);
        return lease.Stream.Length;
    }

    [Trap("a writer in a using")]
    public static int Writer(ReadOnlySpan<byte> content)
    {
        using var writer = new PooledBufferWriter<byte>();
        writer.Write(content);
        return writer.WrittenCount;
    }

    [Trap("a writer hands its buffer on")]
    public static BufferLease<byte> WriterDetached(ReadOnlySpan<byte> content)
    {
        using var writer = new PooledBufferWriter<byte>();
        writer.Write(content);
        return writer.Detach();
    }

    [Trap("a string builder returns itself")]
    public static string BuildsText(string name)
    {
        PooledStringBuilder text = PooledStringBuilder.Rent();
        text.Builder.Append("hello ").Append(name);
        return text.ToStringAndReturn();
    }

    [Trap("TryRent gives a lease only when true")]
    public static long Tried(ResourcePool<MemoryStream> pool)
    {
        if (!pool.TryRent(out ResourceLease<MemoryStream> lease))
        {
            return -1;
        }

        using (lease)
        {
            return lease.Value.Length;
        }
    }

    [Trap("a broken resource is marked, then disposed")]
    public static long Broken(ResourcePool<MemoryStream> pool)
    {
        using ResourceLease<MemoryStream> lease = pool.Rent();
        try
        {
            return lease.Value.Length;
        }
        catch (ObjectDisposedException error)
        {
            lease.MarkBroken(error);
            throw;
        }
    }

    [Trap("misuse that a test expects")]
    public static bool ExpectsMisuse(BufferPool<byte> pool, int length, Func<Action, bool> throwsMisuse)
    {
        BufferLease<byte> lease = pool.Rent(length);
        lease.Return();
        return throwsMisuse(() => lease.Return());
    }
}
