using System.Collections.Concurrent;
using System.Text;
using Microsoft.Extensions.ObjectPool;

namespace Tidepool.Labs;

/// <summary>How long a new builder is.</summary>
internal interface IBuilderSize
{
    /// <summary>Characters that it has room for.</summary>
    static abstract int Characters { get; }
}

/// <summary>A builder with room for 256 characters.</summary>
internal readonly struct UsualSize : IBuilderSize
{
    public static int Characters => 256;
}

/// <summary>A builder of 1 KB.</summary>
internal readonly struct LongSize : IBuilderSize
{
    public static int Characters => 512;
}

/// <summary>A string builder as what a renter holds.</summary>
internal readonly struct Builder(StringBuilder builder)
{
    /// <summary>The builder.</summary>
    public StringBuilder Value => builder;
}

/// <summary>A leased string builder.</summary>
internal readonly struct BuilderLease(ObjectLease<StringBuilder> lease)
{
    /// <summary>The lease.</summary>
    public ObjectLease<StringBuilder> Value => lease;
}

/// <summary>A new builder each time.</summary>
internal readonly struct NewBuilder<TSize> : IRentalSubject<NewBuilder<TSize>, Builder>
    where TSize : struct, IBuilderSize
{
    public Builder Rent(int length) => new(new StringBuilder(TSize.Characters));

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item)
    {
    }
}

/// <summary>The pool that many write by hand.</summary>
internal readonly struct BagBuilder<TSize> : IRentalSubject<BagBuilder<TSize>, Builder>
    where TSize : struct, IBuilderSize
{
    private static readonly ConcurrentBag<StringBuilder> Bag = [];

    public Builder Rent(int length) => new(Bag.TryTake(out var builder) ? builder : new StringBuilder(TSize.Characters));

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item)
    {
        item.Value.Clear();
        Bag.Add(item.Value);
    }
}

/// <summary>Microsoft.Extensions.ObjectPool with its own policy for builders.</summary>
internal readonly struct MicrosoftBuilder<TSize> : IRentalSubject<MicrosoftBuilder<TSize>, Builder>
    where TSize : struct, IBuilderSize
{
    private static readonly Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> Pool =
        new DefaultObjectPoolProvider { MaximumRetained = InstanceSubject.Retained }.CreateStringBuilderPool();

    public Builder Rent(int length) => new(Pool.Get());

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item) => Pool.Return(item.Value);
}

/// <summary>Ours, the builder itself.</summary>
internal readonly struct RawBuilder<TSize> : IRentalSubject<RawBuilder<TSize>, Builder>
    where TSize : struct, IBuilderSize
{
    private static readonly StringBuilderPool Pool = new(options: InstanceSubject.Options("raw builders"));

    public Builder Rent(int length) => new(Pool.RentRaw());

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item) => Pool.ReturnRaw(item.Value);
}

/// <summary>Ours, under a lease.</summary>
internal readonly struct LeasedBuilder<TSize> : IRentalSubject<LeasedBuilder<TSize>, BuilderLease>
    where TSize : struct, IBuilderSize
{
    private static readonly StringBuilderPool Pool = new(options: InstanceSubject.Options("leased builders"));

    public BuilderLease Rent(int length) => new(Pool.Rent());

    public void Touch(BuilderLease item) => item.Value.Value.Append(InstanceSubject.Text);

    public void Return(BuilderLease item) => item.Value.Dispose();
}
