using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>A pool is given an array of a length that it never rents out, which is refused in every mode.</summary>
public abstract class WrongLength(PoolChecks mode) : MisuseTest(mode)
{
    public static TheoryData<int> Lengths => [1, 17, 100, 1000];

    protected void ReturnOneOf(int length)
    {
        int[] array = new int[length];
        ArgumentException failure = Assert.Throws<ArgumentException>("array", () => Pool.AsArrayPool().Return(array));
        Assert.Contains(Name, failure.Message, StringComparison.Ordinal);
        Assert.Equal(1, Count(MisuseKind.WrongLength));
        Assert.Equal(0, Pool.GetStatistics().Returned);
        AssertNoTwoRentersOfArrays();
    }

    protected void ReturnOneAndRentAHundred()
    {
        int[] array = new int[100];
        Assert.Throws<ArgumentException>("array", () => Pool.AsArrayPool().Return(array));
        for (int i = 0; i < 100; i++)
        {
            int[] rented = Pool.AsArrayPool().Rent(100);
            Assert.NotSame(array, rented);
            Pool.AsArrayPool().Return(rented);
        }
    }
}
