namespace Tidepool.Advice.Tests.Targets;

public sealed class TargetCatalogTests
{
    private static readonly TargetProcess[] Processes =
    [
        new() { Id = 1, Name = "orders" },
        new() { Id = 2, Name = "orders-worker" },
        new() { Id = 3, Name = "Billing" },
    ];

    [Theory]
    [InlineData("orders", 1)]
    [InlineData("worker", 2)]
    [InlineData("bill", 3)]
    public void A_whole_name_wins_over_a_part_of_one(string name, int id) => Assert.Equal(id, TargetCatalog.Choose(name, Processes).Id);

    [Fact]
    public void Several_that_fit_are_named_with_their_numbers()
    {
        var failure = Assert.Throws<TargetException>(() => TargetCatalog.Choose("order", Processes));
        Assert.Equal(TargetProblem.WrongTarget, failure.Problem);
        Assert.Contains("1 orders, 2 orders-worker", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void None_that_fits_is_an_error_that_names_the_word()
    {
        TargetException refused = Assert.Throws<TargetException>(() => TargetCatalog.Choose("stock", Processes));
        Assert.Contains("'stock'", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_number_of_no_process_is_an_error()
    {
        var failure = Assert.Throws<TargetException>(() => TargetCatalog.Find("2147483646"));
        Assert.Contains("there is no process 2147483646", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_tool_does_not_look_at_itself() => Assert.Contains(
        "itself",
        Assert.Throws<TargetException>(() => TargetCatalog.Find($"{Environment.ProcessId}")).Message,
        StringComparison.Ordinal);
}
