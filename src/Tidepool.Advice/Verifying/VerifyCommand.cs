namespace Tidepool.Advice;

/// <summary>A command line to run: environment variables, a program and its arguments.</summary>
internal sealed record VerifyCommand
{
    private VerifyCommand(IReadOnlyList<(string Name, string Value)> variables, IReadOnlyList<string> words) =>
        (Variables, Words) = (variables, words);

    /// <summary>What is set for it beyond this process's own environment.</summary>
    public IReadOnlyList<(string Name, string Value)> Variables { get; }

    /// <summary>The program and its arguments.</summary>
    public IReadOnlyList<string> Words { get; }

    /// <summary>Reads words as a shell does: those at the front of the form <c>NAME=VALUE</c> are environment variables.</summary>
    /// <param name="words">The words.</param>
    /// <param name="what">What the command is called in messages: before or after.</param>
    /// <exception cref="TargetException">There is no program, or it is <c>dotnet run</c>.</exception>
    public static VerifyCommand Parse(IReadOnlyList<string> words, string what)
    {
        (string Name, string Value)[] variables =
            [.. words.TakeWhile(IsAssignment).Select(static word => (Name(word), word[(Name(word).Length + 1)..]))];
        string[] program = [.. words.Skip(variables.Length)];
        if (program.Length == 0)
        {
            throw new TargetException(TargetProblem.WrongTarget, $"the command of --{what} names no program: '{string.Join(' ', words)}'.");
        }

        if (CommandLines.IsDotnetRun(program))
        {
            throw new TargetException(
                TargetProblem.WrongTarget,
                $"the command of --{what} is 'dotnet run', which would be measured with the build: build it, and give the program itself.");
        }

        return new VerifyCommand(variables, program);
    }

    /// <inheritdoc/>
    public override string ToString() =>
        string.Join(' ', [.. Variables.Select(static one => $"{one.Name}={one.Value}"), .. Words.Select(Quoted)]);

    private static string Name(string word) => word[..word.IndexOf('=', StringComparison.Ordinal)];

    private static bool IsAssignment(string word) =>
        word.IndexOf('=', StringComparison.Ordinal) > 0
        && Name(word).All(static letter => char.IsAsciiLetterOrDigit(letter) || letter == '_')
        && !char.IsAsciiDigit(word[0]);

    private static string Quoted(string word) => word.Length == 0 || word.Contains(' ', StringComparison.Ordinal) ? $"\"{word}\"" : word;
}
