namespace Tidepool.Tidy;

/// <summary>Collects everything that breaks a rule, so that one run shows all of it.</summary>
internal static class Problems
{
    public static void AssertNone(IEnumerable<string> problems, string rule)
    {
        string[] found = [.. problems];
        Assert.True(found.Length == 0, $"{rule}{Environment.NewLine}  {string.Join(Environment.NewLine + "  ", found)}");
    }
}
