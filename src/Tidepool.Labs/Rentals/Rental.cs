using System.Globalization;

namespace Tidepool.Labs;

/// <summary>A subject of the rental patterns: its name and how its loop for a cell is made.</summary>
internal sealed record Rental(string Name, bool Ours, bool IsOnStack, Func<Cell, Loop?> Create)
{
    /// <summary>What to say when there is no loop, because the subject is not there.</summary>
    public string Missing { get; init; } = "not available here";

    /// <summary>A subject whose item cannot leave the stack: patterns inlined and call site only.</summary>
    public static Rental OnStack<TSubject, TItem>(string name, bool ours)
        where TSubject : struct, IRentalSubject<TSubject, TItem>, allows ref struct
        where TItem : struct, allows ref struct =>
        new(name, ours, IsOnStack: true, CreateStackLoop<TSubject, TItem>);

    /// <summary>A subject whose item may cross threads: every pattern.</summary>
    public static Rental Anywhere<TSubject, TItem>(string name, bool ours)
        where TSubject : struct, IRentalSubject<TSubject, TItem>
        where TItem : struct =>
        new(name, ours, IsOnStack: false, cell => cell["pattern"] switch
        {
            RentalPattern.Ring => new RingLoop<TSubject, TItem>(Length(cell), capacity: 1024, batch: 16),
            RentalPattern.PingPong => new RingLoop<TSubject, TItem>(Length(cell), capacity: 1, batch: 1),
            RentalPattern.Hop => new AsyncLoop(operations => HopBody<TSubject, TItem>.RunAsync(operations, Length(cell))),
            _ => CreateStackLoop<TSubject, TItem>(cell),
        });

    /// <summary>The workload of this subject in a cell.</summary>
    public Workload In(Section section, Cell cell, int everyRounds = 1) => new()
    {
        Key = new(cell, Name),
        Section = section,
        Ours = Ours,
        Create = () => Create(cell),
        Missing = Missing,
        EveryRounds = everyRounds,
    };

    private static Loop CreateStackLoop<TSubject, TItem>(Cell cell)
        where TSubject : struct, IRentalSubject<TSubject, TItem>, allows ref struct
        where TItem : struct, allows ref struct
    {
        int length = Length(cell);
        int depth = Number(cell, "depth");
        int threads = Number(cell, "threads");
        var body = RentalBodies<TSubject, TItem>.Of(cell["pattern"]!, depth);
        return threads == 1
            ? new SingleThreadLoop(operations => body(operations, length), depth)
            : new ParallelLoop((_, operations) => body(operations, length), threads, depth);
    }

    private static int Length(Cell cell) => Number(cell, "length");

    private static int Number(Cell cell, string name) => int.Parse(cell[name]!, CultureInfo.InvariantCulture);
}
