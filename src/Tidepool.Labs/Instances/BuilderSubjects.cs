using System.Collections.Concurrent;
using System.Text;
using Microsoft.Extensions.ObjectPool;

namespace Tidepool.Labs;

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
internal readonly struct NewBuilder : IRentalSubject<NewBuilder, Builder>
{
    public Builder Rent(int length) => new(new StringBuilder(InstanceSubject.BuilderCapacity));

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item)
    {
    }
}

/// <summary>The pool that many write by hand.</summary>
internal readonly struct BagBuilder : IRentalSubject<BagBuilder, Builder>
{
    private static readonly ConcurrentBag<StringBuilder> Bag = [];

    public Builder Rent(int length) => new(Bag.TryTake(out var builder) ? builder : new StringBuilder(InstanceSubject.BuilderCapacity));

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item)
    {
        item.Value.Clear();
        Bag.Add(item.Value);
    }
}

/// <summary>Microsoft.Extensions.ObjectPool with its own policy for builders.</summary>
internal readonly struct MicrosoftBuilder : IRentalSubject<MicrosoftBuilder, Builder>
{
    private static readonly Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> Pool =
        new DefaultObjectPoolProvider { MaximumRetained = InstanceSubject.Retained }.CreateStringBuilderPool();

    public Builder Rent(int length) => new(Pool.Get());

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item) => Pool.Return(item.Value);
}

/// <summary>Ours, the builder itself.</summary>
internal readonly struct RawBuilder : IRentalSubject<RawBuilder, Builder>
{
    private static readonly StringBuilderPool Pool = new(options: InstanceSubject.Options("raw builders"));

    public Builder Rent(int length) => new(Pool.RentRaw());

    public void Touch(Builder item) => item.Value.Append(InstanceSubject.Text);

    public void Return(Builder item) => Pool.ReturnRaw(item.Value);
}

/// <summary>Ours, under a lease.</summary>
internal readonly struct LeasedBuilder : IRentalSubject<LeasedBuilder, BuilderLease>
{
    private static readonly StringBuilderPool Pool = new(options: InstanceSubject.Options("leased builders"));

    public BuilderLease Rent(int length) => new(Pool.Rent());

    public void Touch(BuilderLease item) => item.Value.Value.Append(InstanceSubject.Text);

    public void Return(BuilderLease item) => item.Value.Dispose();
}
