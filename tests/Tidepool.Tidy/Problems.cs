namespace Tidepool.Tidy;

/// <summary>Collects everything that breaks a rule, so that one run shows all of it.</summary>
internal static class Problems
{
    public static void AssertNone(IEnumerable<string> problems, string rule)
    {
        string[] found = [.. problems];
        Assert.True(found.Length == 0, $"{rule}{Environment.NewLine}  {string.Join(Environment.NewLine + "  ", found)}");
    }

    /// <summary>Fails with a line "- ..." for everything missing and "+ ..." for everything that should not be there.</summary>
    public static void AssertSame(IEnumerable<string> expected, IEnumerable<string> actual, string rule)
    {
        List<string> missing = [.. expected];
        List<string> extra = [.. actual.Where(item => !missing.Remove(item))];
        AssertNone([.. missing.Select(item => "- " + item), .. extra.Select(item => "+ " + item)], rule);
    }
}
