using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class WrongLengthFull() : MisuseTest(PoolChecks.Full)
{
    [Theory]
    [InlineData(1)]
    [InlineData(17)]
    [InlineData(100)]
    [InlineData(1000)]
    public void An_array_of_a_length_that_no_class_has_is_refused(int length)
    {
        int[] array = new int[length];
        ArgumentException failure = Assert.Throws<ArgumentException>("array", () => Pool.AsArrayPool().Return(array));
        Assert.Contains(Name, failure.Message, StringComparison.Ordinal);
        Assert.Equal(1, Count(MisuseKind.WrongLength));
        Assert.Equal(0, Pool.GetStatistics().Returned);
        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void The_refused_array_is_never_handed_out()
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
