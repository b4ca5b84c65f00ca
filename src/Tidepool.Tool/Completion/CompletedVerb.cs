using System.CommandLine;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary>What may follow one verb.</summary>
/// <param name="Name">The verb; with the one before it where it is a verb of a verb.</param>
/// <param name="About">What it does, in a few words.</param>
/// <param name="Words">Words that may follow it.</param>
/// <param name="TakesFiles">Whether files may.</param>
/// <param name="Options">Its options.</param>
internal sealed record CompletedVerb(string Name, string About, string[] Words, bool TakesFiles, CompletedOption[] Options)
{
    /// <summary>The verbs that a command line has, as its parser knows them.</summary>
    public static IEnumerable<CompletedVerb> Of(Command root) =>
        from verb in root.Subcommands
        where !verb.Hidden
        from completed in verb.Subcommands.Select(inner => Of(inner, $"{verb.Name} {inner.Name}")).Prepend(Of(verb, verb.Name))
        select completed;

    private static CompletedVerb Of(Command verb, string name) => new(
        name,
        Shorten(verb.Description),
        verb.Name switch
        {
            LabVerb.Name => [.. LabCatalog.All.Select(static lab => lab.Name)],
            CompletionVerb.Name => CompletionVerb.Shells,
            _ => [.. verb.Subcommands.Select(static inner => inner.Name)],
        },
        verb.Arguments.Any(static argument => argument.ValueType == typeof(FileInfo)),
        [.. verb.Options.Where(static option => !option.Hidden).Select(CompletedOption.Of)]);

    /// <summary>The verbs that only the script of a clone has.</summary>
    /// <param name="all">Every verb of the script.</param>
    /// <param name="known">Those that the parser knows.</param>
    public static IEnumerable<CompletedVerb> OfClone(string[] all, IEnumerable<CompletedVerb> known) =>
        from name in all.Except(known.Select(static verb => verb.Name))
        select new CompletedVerb(
            name,
            name switch
            {
                "test" => "Runs the tests",
                "bench" => "Runs the benchmarks",
                "soak" => "Attacks the promises of the library for as long as you like",
                "build" => "Builds the solution",
                "help" => "Shows the text of a verb",
                _ => $"See ./tidepool help {name}",
            },
            name == "help" ? all : [],
            false,
            name == "test" ? [new("--all", "With the slow ones", OptionValue.None)] : []);

    /// <summary>Whether it is a verb of a verb.</summary>
    public bool IsInner => Name.Contains(' ', StringComparison.Ordinal);

    /// <summary>The first clause of a description.</summary>
    public static string Shorten(string? text) => (text ?? "").Split([". ", "; ", ": ", ", "], StringSplitOptions.None)[0].TrimEnd('.');
}

/// <summary>One option of a verb.</summary>
/// <param name="Name">With its dashes.</param>
/// <param name="About">What it does, in a few words.</param>
/// <param name="Value">What follows it.</param>
internal sealed record CompletedOption(string Name, string About, OptionValue Value)
{
    /// <summary>An option as the parser knows it.</summary>
    public static CompletedOption Of(Option option) => new(
        option.Name,
        CompletedVerb.Shorten(option.Description),
        option.ValueType == typeof(bool) ? OptionValue.None : option.ValueType == typeof(FileInfo) ? OptionValue.File : OptionValue.Text);
}

/// <summary>What follows an option.</summary>
internal enum OptionValue
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>A file.</summary>
    File,

    /// <summary>Something that cannot be completed.</summary>
    Text,
}
