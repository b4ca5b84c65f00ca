// A console program with pools of managed and of native memory.
using System.Text;
using Tidepool;

using (BufferLease<byte> lease = BufferPool<byte>.Shared.Rent(1000))
{
    int written = Encoding.UTF8.GetBytes("rent, use, return", lease.Span);
    Console.WriteLine($"wrote {written} of {lease.Length} bytes");
    lease.Return();
    try
    {
#pragma warning disable POOL001 // the package's own rule sees it; this is about what the program does
        lease.Return();
#pragma warning restore POOL001
    }
    catch (PoolMisuseException misuse)
    {
        Console.WriteLine(misuse.Kind);
    }
}

using var pool = BufferPool<float>.Create(new BufferPoolOptions<float> { Source = NativeSource<float>.Instance, Alignment = 64 });
using BufferLease<float> floats = pool.Rent(1000);
floats.Span.Fill(0.5f);
Console.WriteLine($"{floats.Length} native floats, the last is {floats.Span[999]}");
