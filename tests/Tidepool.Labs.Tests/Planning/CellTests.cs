namespace Tidepool.Labs.Tests.Planning;

public class CellTests
{
    [Theory]
    [InlineData(100, "100 B")]
    [InlineData("16 MiB", "16 MiB")]
    public void A_size_is_described_with_one_unit(object size, string text) => Assert.Equal(text, Cell.Of(("size", size)).Describe());
}
