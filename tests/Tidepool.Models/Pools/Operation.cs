using FsCheck;
using FsCheck.Fluent;

namespace Tidepool.Models.Pools;

/// <summary>One thing that a program does with a pool.</summary>
/// <param name="What">What it does.</param>
/// <param name="Thread">Which thread does it.</param>
/// <param name="Place">Which of the places for rentals it concerns.</param>
/// <param name="Length">The length for rentals.</param>
public sealed record Operation(OperationKind What, int Thread, int Place, int Length)
{
    internal const int Threads = 3;
    internal const int Places = 12;

    /// <summary>Random programs; a failing one is made shorter.</summary>
    internal static Arbitrary<Operation[]> Programs { get; } =
        Arb.From(NewOperation().ArrayOf(150), Shorten);

    private static Gen<Operation> NewOperation() =>
        from what in Gen.Frequency(
            (16, Gen.Constant(OperationKind.Rent)),
            (10, Gen.Constant(OperationKind.Return)),
            (2, Gen.Elements(Enum.GetValues<OperationKind>())),
            (6, Gen.Elements(
                OperationKind.RentArray, OperationKind.RentOwner, OperationKind.Scope, OperationKind.Handle, OperationKind.Move)),
            (2, Gen.Elements(OperationKind.DisposeAgain, OperationKind.ReturnAgain, OperationKind.UseAgain)))
        from thread in Gen.Choose(0, Threads - 1)
        from place in Gen.Choose(0, Places - 1)
        from length in Gen.Frequency(
            (4, Gen.Choose(0, 40)),
            (4, Gen.Elements(64, 128, 200, 256, 1000, 1024, 1025)),
            (2, Gen.Choose(0, 5000)),
            (1, Gen.Elements(20_000, 70_000)))
        select new Operation(what, thread, place, length);

    private static IEnumerable<Operation[]> Shorten(Operation[] program)
    {
        for (int size = program.Length / 2; size > 0; size /= 2)
        {
            for (int start = 0; start + size <= program.Length; start += size)
            {
                yield return [.. program[..start], .. program[(start + size)..]];
            }
        }
    }
}
