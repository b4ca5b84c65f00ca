// One trimmed file, with the native library inside.
using Tidepool;

using var stream = new PooledMemoryStream();
stream.Write("in a stream"u8);
Console.WriteLine($"a stream of {stream.Length} bytes");

using var pool = new NativeMemoryPool<byte>(alignment: 4096);
using (var owner = pool.Rent(10_000))
{
    owner.Memory.Span.Clear();
    Console.WriteLine($"{owner.Memory.Length} native bytes");
}
