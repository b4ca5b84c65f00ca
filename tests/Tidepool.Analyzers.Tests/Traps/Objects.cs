// Pools of objects, Microsoft's and ours.
using Microsoft.Extensions.ObjectPool;

namespace Traps;

internal sealed class Objects
{
    [Trap("returned in finally")]
    public static string MicrosoftPool(Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> pool, string name)
    {
        StringBuilder text = pool.Get();
        try
        {
            return text.Append(name).ToString();
        }
        finally
        {
            pool.Return(text);
        }
    }

    [Trap("a fluent chain gives the same object")]
    public static string Fluent(Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> pool, string name)
    {
        StringBuilder text = pool.Get().Append(name).Append('!');
        string result = text.ToString();
        pool.Return(text);
        return result;
    }

    [Trap("taken out of the pool for good")]
    public static StringBuilder Kept(Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> pool) => pool.Get();

    [Trap("the pooled object is given to a callback")]
    public static void Callback(Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> pool, Action<StringBuilder> use)
    {
        StringBuilder text = pool.Get();
        use(text);
        pool.Return(text);
    }

    [Trap("a policy's Return is no return to a pool")]
    public static bool PolicyReturn(IPooledObjectPolicy<StringBuilder> policy, StringBuilder text)
    {
        bool first = policy.Return(text);
        return policy.Return(text) && first;
    }

    [Trap("a leased object in a using")]
    public static string Leased(Tidepool.ObjectPool<StringBuilder> pool, string name)
    {
        using ObjectLease<StringBuilder> lease = pool.Rent();
        return lease.Value.Append(name).ToString();
    }

    [Trap("a raw object is returned")]
    public static string Raw(Tidepool.ObjectPool<StringBuilder> pool, string name)
    {
        StringBuilder text = pool.RentRaw();
        string result = text.Append(name).ToString();
        pool.ReturnRaw(text);
        return result;
    }

    [Trap("a detached object stays with the caller")]
    public static StringBuilder DetachedObject(Tidepool.ObjectPool<StringBuilder> pool)
    {
        ObjectLease<StringBuilder> lease = pool.Rent();
        return lease.Detach();
    }

    [Trap("an object is rented again after the return")]
    public static string Twice(Tidepool.ObjectPool<StringBuilder> pool, string name)
    {
        StringBuilder text = pool.RentRaw();
        string first = text.Append(name).ToString();
        pool.ReturnRaw(text);
        text = pool.RentRaw();
        string second = text.Append(first).ToString();
        pool.ReturnRaw(text);
        return second;
    }

    [Trap("an object that is a pool's item in a static cache")]
    public static class BuilderCache
    {
        [ThreadStatic]
        private static StringBuilder? t_builder;

        public static StringBuilder Acquire()
        {
            StringBuilder text = t_builder ?? new StringBuilder();
            t_builder = null;
            return text;
        }

        public static string Return(StringBuilder text)
        {
            string result = text.ToString();
            t_builder = text.Clear();
            return result;
        }

        public static string Use(string name)
        {
            StringBuilder text = Acquire();
            text.Append(name);
            return Return(text) + Return(text);
        }
    }

    [Trap("a method that returns a new object of the receiver's type")]
    public static List<int> Part(Microsoft.Extensions.ObjectPool.ObjectPool<List<int>> pool, int n)
    {
        List<int> list = pool.Get();
        list.AddRange(Enumerable.Range(0, n));
        List<int> part = list.GetRange(0, n);
        pool.Return(list);
        part.Add(1);
        return part;
    }

    [Trap("a property of a pooled object that outlives its return")]
    public static int Copied(Microsoft.Extensions.ObjectPool.ObjectPool<Message> pool, Stream target)
    {
        Message message = pool.Get();
        Box box = message.Value;
        Memory<byte> body = message.Body;
        int number = message.Array;
        pool.Return(message);
        target.Write(body.Span);
        box.Number = number;
        return box.Number + number;
    }

    [Trap("a property of an object of a type that is marked")]
    public static int Marked(Stream target)
    {
        var session = new Session();
        Box box = session.Value;
        Memory<byte> body = session.Body;
        session.Dispose();
        target.Write(body.Span);
        return box.Number;
    }

    public sealed class Box
    {
        public int Number { get; set; }
    }

    public sealed class Message
    {
        public Box Value { get; } = new();

        public Memory<byte> Body { get; } = new byte[8];

        public int Array { get; set; }
    }

    [MustReturn]
    public sealed class Session : IDisposable
    {
        public Box Value { get; } = new();

        public Memory<byte> Body { get; } = new byte[8];

        public void Dispose() => Value.Number = 0;
    }
}
