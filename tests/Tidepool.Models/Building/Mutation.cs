namespace Tidepool.Models.Building;

/// <summary>A bug to plant: a text of the core that is replaced. It must stand there exactly once, so that a changed core is noticed.</summary>
/// <param name="File">The file below <c>src/Tidepool</c>.</param>
/// <param name="Text">What stands there.</param>
/// <param name="Bug">What shall stand there.</param>
public sealed record Mutation(string File, string Text, string Bug)
{
    internal string Apply(string source)
    {
        int place = source.IndexOf(Text, StringComparison.Ordinal);
        if (place < 0 || source.IndexOf(Text, place + 1, StringComparison.Ordinal) >= 0)
        {
            throw new InvalidOperationException($"The bug for {File} cannot be planted: its text must stand there exactly once. Adapt the mutation:\n{Text}");
        }

        return source.Replace(Text, Bug, StringComparison.Ordinal);
    }
}
