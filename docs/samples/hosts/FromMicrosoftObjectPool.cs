using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.ObjectPool;
using Tidepool;
using Microsofts = Microsoft.Extensions.ObjectPool;

namespace Samples;

/// <summary>Builds strings with Microsoft.Extensions.ObjectPool, and again with ours.</summary>
public static class FromMicrosoftObjectPool
{
    private static readonly Microsofts.ObjectPool<StringBuilder> Old =
        new DefaultObjectPoolProvider().Create(new StringBuilderPooledObjectPolicy());

    private static readonly Tidepool.ObjectPool<StringBuilder> New =
        Tidepool.ObjectPool<StringBuilder>.Create(static () => new StringBuilder(), static text =>
        {
            text.Clear();
            return text.Capacity <= 4096;
        });

    public static void Run(TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        console.WriteLine($"old: {WriteOld()}");
        console.WriteLine($"new: {WriteNew()}");
        console.WriteLine($"ready-made: {WriteString()}");
        console.WriteLine($"provider: {AskProvider()}");
    }

    private static string WriteOld()
    {
        StringBuilder text = Old.Get();
        try
        {
            return text.Append("rent, use, return").ToString();
        }
        finally
        {
            Old.Return(text);
        }
    }

    private static string WriteNew()
    {
        using ObjectLease<StringBuilder> lease = New.Rent();
        return lease.Value.Append("rent, use, return").ToString();
    }

    private static string WriteString()
    {
        using PooledStringBuilder text = PooledStringBuilder.Rent();
        return text.Builder.Append("rent, use, return").ToString();
    }

    private static string AskProvider()
    {
        using ServiceProvider services = new ServiceCollection()
            .AddSingleton<ObjectPoolProvider, TidepoolObjectPools>() // was: DefaultObjectPoolProvider
            .BuildServiceProvider();
        Microsofts.ObjectPool<StringBuilder> pool = services.GetRequiredService<ObjectPoolProvider>().CreateStringBuilderPool();
        StringBuilder text = pool.Get();
        string written = text.Append("code that was there before").ToString();
        pool.Return(text);
        return written;
    }
}
