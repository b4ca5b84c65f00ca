using System.Text.Json;
using System.Text.Json.Nodes;
using Tidepool.Labs.Tests.Comparing;

namespace Tidepool.Labs.Tests.Output;

/// <summary>What is read: files of every schema, and none that is broken.</summary>
public class ResultFileTests
{
    [Fact]
    public void Schema_time_and_commit_are_written_and_read_back()
    {
        var report = FakeLab.Report();
        DateTime before = DateTime.UtcNow;
        string text = ResultJson.Write(report, [.. report.Labs.Select(ReportBuilder.Build)]);
        var file = ResultJson.Read(text);

        Assert.Equal(2, JsonNode.Parse(text)!["schema"]!.GetValue<int>());
        Assert.InRange(file.Time!.Value, before.AddSeconds(-1), DateTime.UtcNow); // the file has whole seconds
        Assert.Equal(DateTimeKind.Utc, file.Time.Value.Kind);
        Assert.Equal(BuildVersion.Commit, file.Commit);
        Assert.EndsWith("Z", JsonNode.Parse(text)!["time"]!.GetValue<string>(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_of_the_first_schema_has_neither_time_nor_commit()
    {
        var json = MadeUpResult.Json(0.5);
        json.Remove("schema");
        json.Remove("time");
        json.Remove("commit");

        var file = ResultJson.Read(json.ToJsonString());

        Assert.Null(file.Time);
        Assert.Null(file.Commit);
        Assert.Equal(0.5, file.Labs.Single().Rows[1].Ratio!.Value.Value);
    }

    [Theory]
    [InlineData("schema", "3", "its schema is 3")]
    [InlineData("schema", "0", "its schema is 0")]
    [InlineData("schema", "\"new\"", "")]
    [InlineData("time", "\"yesterday\"", "")]
    [InlineData("machine", "null", "'machine' is missing")]
    [InlineData("labs", "null", "'labs' is missing")]
    [InlineData("labs/0", "null", "'labs' holds more than objects")]
    [InlineData("labs/0/rows", "7", "")]
    [InlineData("labs/0/rows/1/cell", "null", "'cell' is missing")]
    [InlineData("labs/0/rows/1/cell/length", "null", "'length' is missing")]
    [InlineData("labs/0/rows/1/cell/length", "1.5", "")]
    [InlineData("labs/0/rows/1/subject", "5", "")]
    [InlineData("labs/0/rows/1/ratioLow", "null", "cannot have the interval")]
    [InlineData("labs/0/rows/1/ratioLow", "0", "cannot have the interval")]
    [InlineData("labs/0/rows/1/ratioHigh", "0.1", "cannot have the interval")]
    [InlineData("labs/0/rows/1/ratio", "-1", "cannot have the interval")]
    [InlineData("labs/0/rows/1/metrics/x_B", "\"many\"", "")]
    public void A_broken_file_is_one_exception_that_says_why(string path, string value, string expected)
    {
        string text = MadeUpResult.Json(0.5).With(path, JsonNode.Parse(value));

        var failure = Assert.Throws<JsonException>(() => ResultJson.Read(text));

        Assert.Contains(expected, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("""{"machine":{},"machine":{},"labs":[]}""")]
    [InlineData("""{"machine":{},"labs":[]""")]
    public void What_is_not_one_object_is_refused(string text) => Assert.ThrowsAny<JsonException>(() => ResultJson.Read(text));

    [Fact]
    public void A_number_beyond_all_is_refused() => Assert.Throws<JsonException>(
        () => ResultJson.Read(
            MadeUpResult.Json(0.5).ToJsonString().Replace("\"ratioHigh\":0.505", "\"ratioHigh\":1e999", StringComparison.Ordinal)));

    [Theory]
    [InlineData("70dab69", true)]
    [InlineData("70dab6915f2bc4eb2d0a459d8075084794aa9e7f", true)]
    [InlineData("local", false)]
    [InlineData("", false)]
    public void Only_hexadecimal_digits_are_a_commit(string text, bool isCommit) => Assert.Equal(isCommit, BuildVersion.IsCommit(text));
}
