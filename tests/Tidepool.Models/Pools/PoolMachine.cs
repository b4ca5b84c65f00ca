using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool.Models.Pools;

/// <summary>
/// Carries out programs on a pool beside a model of it: every rental is marked with a number of its own, and must carry it until it is
/// returned. Threads meet at the places: the thread that takes a rental out of one, by an exchange, is its only owner.
/// </summary>
internal sealed class PoolMachine<T>
{
    private readonly Element<T> _element;
    private readonly Func<BufferSource<T>, BufferPoolOptions<T>> _options;
    private readonly Holding<T>?[] _places = new Holding<T>?[Operation.Places];
    private readonly Holding<T>?[] _returned = new Holding<T>?[Operation.Places];
    private readonly List<Ledger<T>> _ledgers = [];
    private Ledger<T> _ledger;
    private int _number;

    internal PoolMachine(Element<T> element, Func<BufferSource<T>, BufferPoolOptions<T>> options)
    {
        _element = element;
        _options = options;
        _ledger = new Ledger<T>(options);
        _ledgers.Add(_ledger);
    }

    /// <summary>One operation on the calling thread.</summary>
    internal void Do(Operation operation)
    {
        Ledger<T> ledger = Volatile.Read(ref _ledger);
        try
        {
            Do(operation, ledger);
        }
        catch (ObjectDisposedException) when (ledger.Pool.IsDisposed)
        {
            // Another thread has disposed the pool: nothing was rented.
        }
    }

    /// <summary>Checks that every rental still carries its mark and that the counters agree, while no thread works.</summary>
    internal void Check()
    {
        foreach (Holding<T>? holding in _places)
        {
            Assert.True(holding is null || _element.Marks(holding.Span, holding.Number), "a rental has changed under its renter");
        }

        _ledger.CheckCounts();
    }

    /// <summary>Returns what is out and checks all pools to their end.</summary>
    internal void End()
    {
        for (int place = 0; place < _places.Length; place++)
        {
            Put(place, null);
        }

        _ledgers.ForEach(static l => l.CheckEnd());
    }

    private void Do(Operation operation, Ledger<T> ledger)
    {
        int length = operation.Length;
        switch (operation.What)
        {
            case OperationKind.Rent:
                BufferLease<T> lease = ledger.Pool.Rent(length);
                Assert.Equal(length, lease.Length);
                Put(operation.Place, Begin(ledger, lease.Span, n => new Holding<T>(ledger, n, length) { Lease = lease }));
                break;
            case OperationKind.RentArray:
                T[] array = ledger.Pool.AsArrayPool().Rent(length);
                Put(operation.Place, Begin(
                    ledger,
                    array.AsSpan(0, length),
                    n => new Holding<T>(ledger, n, length) { Array = array },
                    counts: length > 0));
                break;
            case OperationKind.RentOwner:
                IMemoryOwner<T> owner = ledger.Owners.Rent(length);
                Put(operation.Place, Begin(ledger, owner.Memory.Span, n => new Holding<T>(ledger, n, length) { Owner = owner }));
                break;
            case OperationKind.Return:
                Put(operation.Place, null);
                break;
            case OperationKind.Move:
                Move(operation.Place, length);
                break;
            case OperationKind.Detach:
                Detach(operation.Place);
                break;
            case OperationKind.Scope:
                Scope(ledger, length);
                break;
            case OperationKind.Handle:
                UseHandle(ledger, operation.Place, length);
                break;
            case OperationKind.DisposeAgain or OperationKind.ReturnAgain or OperationKind.UseAgain:
                Misuse(operation.What, operation.Place);
                break;
            case OperationKind.Trim:
                ledger.Pool.Trim();
                break;
            case OperationKind.Epoch or OperationKind.Pressure:
                Trimmer.Epoch(all: operation.What == OperationKind.Pressure);
                break;
            case OperationKind.DisposePool:
                DisposePool(ledger);
                break;
        }
    }

    private Holding<T> Begin(Ledger<T> ledger, Span<T> buffer, Func<int, Holding<T>> make, bool counts = true)
    {
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            Assert.True(buffer.IndexOfAnyExcept(default(T)!) < 0, "a buffer of references was not cleared");
        }

        int number = Interlocked.Increment(ref _number);
        buffer.Fill(_element.Stamp(number));
        Interlocked.Add(ref ledger.Rented, counts ? 1 : 0);
        return make(number);
    }

    /// <summary>Puts a rental into a place and returns what lay there.</summary>
    private void Put(int place, Holding<T>? holding)
    {
        if (Interlocked.Exchange(ref _places[place], holding) is not { } before)
        {
            return;
        }

        Assert.True(_element.Marks(before.Span, before.Number), "a rental has changed under its renter");
        bool counts = before.Array is not { Length: 0 };
        before.Return();
        Interlocked.Add(ref before.Ledger.Returned, counts ? 1 : 0);
        if (before.Lease is not null)
        {
            Volatile.Write(ref _returned[place], before);
        }
    }

    private void Move(int place, int length)
    {
        if (Interlocked.Exchange(ref _places[place], null) is not { } holding)
        {
            return;
        }

        if (holding.Lease is { } lease)
        {
            length = lease.Length;
            IMemoryOwner<T> owner = lease.ToOwner();
            Assert.False(lease.IsActive);
            Volatile.Write(ref _returned[place], holding);
            holding = new Holding<T>(holding.Ledger, holding.Number, length) { Owner = owner };
        }

        Put(place, holding);
    }

    private void Detach(int place)
    {
        if (Interlocked.Exchange(ref _places[place], null) is not { } holding)
        {
            return;
        }

        if (holding.Lease is not { } lease)
        {
            Put(place, holding);
            return;
        }

        ArraySegment<T> segment = lease.Detach();
        Assert.True(_element.Marks(segment, holding.Number), "a rental has changed when it was detached");
        Interlocked.Increment(ref holding.Ledger.Returned);
        Interlocked.Increment(ref holding.Ledger.Detached);
        Volatile.Write(ref _returned[place], holding);
    }

    private void Scope(Ledger<T> ledger, int length)
    {
        using ArrayScope<T> scope = ledger.Pool.RentScope(length);
        Interlocked.Increment(ref ledger.Rented);
        int number = Interlocked.Increment(ref _number);
        scope.Span.Fill(_element.Stamp(number));
        Thread.Yield();
        Assert.True(_element.Marks(scope.Span, number), "a scope has changed under its renter");
        Interlocked.Increment(ref ledger.Returned);
    }

    private void UseHandle(Ledger<T> ledger, int place, int length)
    {
        if (ledger.Pool.Core.Settings.IsAlwaysSlow || ledger.Pool.Core.FindBucket(length) is not { Id: >= 0 })
        {
            return;
        }

        Holding<T>? last = null;
        try
        {
            using ThreadHandle<T> handle = ledger.Pool.GetThreadHandle(length);
            for (int i = 0; i < 3; i++)
            {
                BufferLease<T> lease = handle.Rent(length);
                Holding<T> next = Begin(ledger, lease.Span, n => new Holding<T>(ledger, n, length) { Lease = lease });
                if (last is not null)
                {
                    Assert.True(_element.Marks(last.Span, last.Number), "a rental of a handle has changed under its renter");
                    handle.Return(last.Lease!.Value);
                    Interlocked.Increment(ref ledger.Returned);
                }

                last = next;
            }
        }
        finally
        {
            // Also when another thread has disposed the pool in between.
            Put(place, last);
        }
    }

    private void Misuse(OperationKind what, int place)
    {
        if (Interlocked.Exchange(ref _returned[place], null) is not { Lease: { } lease } holding)
        {
            return;
        }

        Assert.False(lease.IsActive);
        if (what == OperationKind.DisposeAgain)
        {
            lease.Dispose();
            Interlocked.Increment(ref holding.Ledger.StaleDisposes);
        }
        else if (what == OperationKind.UseAgain)
        {
            Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
            Interlocked.Increment(ref holding.Ledger.UsesAfterReturn);
        }
        else
        {
            Interlocked.Increment(ref holding.Ledger.DoubleReturns);
            if (holding.Ledger.Pool.Checks == PoolChecks.Off)
            {
                lease.Return();
            }
            else
            {
                Assert.Equal(MisuseKind.DoubleReturn, Assert.Throws<PoolMisuseException>(lease.Return).Kind);
            }
        }
    }

    private void DisposePool(Ledger<T> ledger)
    {
        lock (_ledgers)
        {
            if (_ledger == ledger)
            {
                var next = new Ledger<T>(_options);
                _ledgers.Add(next);
                Volatile.Write(ref _ledger, next);
            }
        }

        ledger.Pool.Dispose();
    }
}
