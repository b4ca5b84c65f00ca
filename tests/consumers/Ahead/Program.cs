// Compiled ahead of time: a lease, and one that is dropped and reported.
using System.Runtime.CompilerServices;
using System.Text;
using Tidepool;

using (BufferLease<byte> lease = BufferPool<byte>.Shared.Rent(1000))
{
    int written = Encoding.UTF8.GetBytes("rent, use, return", lease.Span);
    Console.WriteLine($"wrote {written} of {lease.Length} bytes");
}

if (args is ["leak"])
{
    string? leaking = null;
    PoolDiagnostics.MisuseReported += report => Volatile.Write(ref leaking, report.PoolName);
    using BufferPool<byte> pool = BufferPool<byte>.Create(new BufferPoolOptions<byte> { Name = "uploads" });
    Uploads.Forget(pool);
    for (int tries = 0; tries < 1200 && Volatile.Read(ref leaking) is null; tries++)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Thread.Sleep(50);
    }

    Console.WriteLine($"a leak of pool '{leaking}'");
}

internal static class Uploads
{
    [MethodImpl(MethodImplOptions.NoInlining)]
#pragma warning disable POOL003 // the package's own rule sees it; this is about the report of the leak
    public static void Forget(BufferPool<byte> pool) => pool.Rent(1000).Span[0] = 1;
#pragma warning restore POOL003
}
