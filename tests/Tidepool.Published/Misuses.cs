using System.Runtime.CompilerServices;
using System.Text;

namespace Tidepool.Published;

/// <summary>Misuses one pool of each kind and prints what the callback reports and what is thrown.</summary>
internal static class Misuses
{
    [MethodImpl(MethodImplOptions.NoInlining)] // reports name it
    internal static void Run()
    {
        PoolDiagnostics.MisuseReported += static _ => throw new InvalidOperationException("a listener that fails");
        PoolDiagnostics.MisuseReported += static report => Console.WriteLine($"reported {report.PoolName}: {report.Kind}");
        using BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = "buffer" });
        using BufferPool<byte> arrays = BufferPool<byte>.Create(new() { Name = "array" });
        using ObjectPool<StringBuilder> objects = ObjectPool<StringBuilder>.Create(static () => new(), options: new() { Name = "object" });

        BufferLease<byte> lease = buffers.Rent(100);
        lease.Return();
        Expect(() => lease.Return());

        byte[] array = arrays.AsArrayPool().Rent(100);
        arrays.AsArrayPool().Return(array);
        Expect(() => arrays.AsArrayPool().Return(array));

        ObjectLease<StringBuilder> item = objects.Rent();
        item.Return();
        Expect(() => item.Return());
    }

    private static void Expect(Action misuse)
    {
        try
        {
            misuse();
        }
        catch (PoolMisuseException refusal)
        {
            Console.WriteLine($"thrown: {refusal.Kind}");
        }
    }
}
