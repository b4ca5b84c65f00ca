using Tidepool.Native.Tests.Support;

namespace Tidepool.Native.Tests.Misuse;

public sealed class WritePastEndChecked
{
    [CheckedFact]
    [Trait("Category", "Environment")]
    public void The_checked_library_ends_the_process_and_says_what_was_overwritten()
    {
        (int code, string output, string error) = Child.Run(
            Scenarios.WritePastTheEnd, null, (NativeLoader.Variable, NativeLibraryFiles.Checked));
        Assert.Contains("checked: True", output, StringComparison.Ordinal);
        Assert.DoesNotContain("not noticed", output, StringComparison.Ordinal);
        Assert.NotEqual(0, code);
        Assert.Contains("overflow", error, StringComparison.OrdinalIgnoreCase);
        Assert.Contains("100", error, StringComparison.Ordinal);
    }
}
