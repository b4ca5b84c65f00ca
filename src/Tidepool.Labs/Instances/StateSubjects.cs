using System.Collections.Concurrent;
using Microsoft.Extensions.ObjectPool;

namespace Tidepool.Labs;

/// <summary>A parser state as what a renter holds.</summary>
internal readonly struct State(ParserState state)
{
    /// <summary>The state.</summary>
    public ParserState Value => state;
}

/// <summary>
/// A leased parser state. A struct of its own: a lease of a class as a type argument would make the runtime share the loop's code.
/// </summary>
internal readonly struct StateLease(ObjectLease<ParserState> lease)
{
    /// <summary>The lease.</summary>
    public ObjectLease<ParserState> Value => lease;
}

/// <summary>A new state each time.</summary>
internal readonly struct NewState : IRentalSubject<NewState, State>
{
    public State Rent(int length) => new(new ParserState());

    public void Touch(State item) => item.Value.Touch();

    public void Return(State item)
    {
    }
}

/// <summary>The pool that many write by hand.</summary>
internal readonly struct BagState : IRentalSubject<BagState, State>
{
    private static readonly ConcurrentBag<ParserState> Bag = [];

    public State Rent(int length) => new(Bag.TryTake(out var state) ? state : new ParserState());

    public void Touch(State item) => item.Value.Touch();

    public void Return(State item)
    {
        item.Value.Reset();
        Bag.Add(item.Value);
    }
}

/// <summary>Microsoft.Extensions.ObjectPool.</summary>
internal readonly struct MicrosoftState : IRentalSubject<MicrosoftState, State>
{
    private static readonly Microsoft.Extensions.ObjectPool.ObjectPool<ParserState> Pool =
        new DefaultObjectPoolProvider { MaximumRetained = InstanceSubject.Retained }.Create(new MicrosoftParserStatePolicy());

    public State Rent(int length) => new(Pool.Get());

    public void Touch(State item) => item.Value.Touch();

    public void Return(State item) => Pool.Return(item.Value);
}

/// <summary>Ours, the object itself.</summary>
internal readonly struct RawState : IRentalSubject<RawState, State>
{
    private static readonly ObjectPool<ParserState, ParserStatePolicy> Pool = new(default, InstanceSubject.Options("raw states"));

    public State Rent(int length) => new(Pool.RentRaw());

    public void Touch(State item) => item.Value.Touch();

    public void Return(State item) => Pool.ReturnRaw(item.Value);
}

/// <summary>Ours, under a lease.</summary>
internal readonly struct LeasedState : IRentalSubject<LeasedState, StateLease>
{
    private static readonly ObjectPool<ParserState, ParserStatePolicy> Pool = new(default, InstanceSubject.Options("leased states"));

    public StateLease Rent(int length) => new(Pool.Rent());

    public void Touch(StateLease item) => item.Value.Value.Touch();

    public void Return(StateLease item) => item.Value.Dispose();
}
