using System.Diagnostics;

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
    public void A_runtime_beside_its_program_has_the_version_of_its_library() =>
        Assert.Equal($"{Environment.Version}", TargetCatalog.RuntimeOf(["/app/libcoreclr.so", typeof(object).Assembly.Location]));

    [Fact]
    public void A_runtime_in_one_file_with_its_program_has_no_version() => Assert.Equal("", TargetCatalog.RuntimeOf(["/app/orders"]));

    [Fact]
    public void The_tool_does_not_look_at_itself() => Assert.Contains(
        "itself",
        Assert.Throws<TargetException>(() => TargetCatalog.Find($"{Environment.ProcessId}")).Message,
        StringComparison.Ordinal);

    [Fact]
    public void One_native_program_is_told_from_several()
    {
        TargetException one = TargetCatalog.Native([Processes[0]]);
        Assert.Equal(TargetProblem.WrongTarget, one.Problem);
        Assert.StartsWith(
            "process 1 (orders) is a native program. Run it as: tidepool advise -- COMMAND.", one.Message, StringComparison.Ordinal);
        Assert.StartsWith(
            "6 native programs fit: 1 orders, 2 orders-worker, 3 Billing, 1 orders and 2 more. Run",
            TargetCatalog.Native([.. Processes, .. Processes]).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_process_of_dotnet_is_no_native_one() => Assert.False(NativeProgram.IsNativeProcess(Environment.ProcessId));

    [Fact]
    [Trait("Category", "Environment")]
    public void A_native_process_is_refused_by_number_and_by_name_with_the_way_out()
    {
        if (!OperatingSystem.IsLinux())
        {
            return; // native programs are looked at on Linux only
        }

        string name = $"tpn{Environment.ProcessId}";
        string program = Path.Combine(Path.GetTempPath(), name);
        File.Copy(NativeProgram.FileOf("sleep")!, program, overwrite: true);
        using var process = Process.Start(program, ["600"]);
        string socket = Path.Combine(Path.GetTempPath(), $"dotnet-diagnostic-{process.Id}-1-socket");
        try
        {
            foreach (string target in (string[])[$"{process.Id}", name, name[1..].ToUpperInvariant()])
            {
                var refused = Assert.Throws<TargetException>(() => TargetCatalog.Find(target));
                Assert.Equal(TargetProblem.WrongTarget, refused.Problem);
                Assert.StartsWith($"process {process.Id} ({name}) is a native program", refused.Message, StringComparison.Ordinal);
            }

            File.WriteAllText(socket, ""); // of a .NET process that was killed and had the same number
            var afresh = Assert.Throws<TargetException>(() => TargetCatalog.Find($"{process.Id}"));
            Assert.Contains("native", afresh.Message, StringComparison.Ordinal);
            Assert.DoesNotContain(TargetCatalog.List(), found => found.Id == process.Id);
            File.Delete(program); // its file may be gone, as after an update
            Assert.Contains("native", Assert.Throws<TargetException>(() => TargetCatalog.Find(name)).Message, StringComparison.Ordinal);
        }
        finally
        {
            process.Kill();
            process.WaitForExit();
            File.Delete(program);
            File.Delete(socket);
        }
    }
}
