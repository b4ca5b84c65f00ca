using System.CommandLine;
using System.CommandLine.Parsing;
using System.Text.Json;
using Tidepool.Advice;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool advise diff</c>: two reports of <c>tidepool advise --json</c>, for CI.</summary>
internal static class AdviseDiffVerb
{
    /// <summary>What the user types after <c>advise</c>.</summary>
    public const string Name = "diff";

    private static readonly Argument<FileInfo> Base =
        new("BASE.json") { Description = "The report to compare with, of tidepool advise --json." };
    private static readonly Argument<FileInfo> New = new("NEW.json") { Description = "The report that may have become worse." };

    private static readonly Option<string[]> FailOn = new("--fail-on")
    {
        Description = "Exit with code 1 when the limit is exceeded with the whole interval; may be given several times: "
            + $"{FailLimit.Allowed}.",
        HelpName = "MEASURE:+LIMIT",
        Arity = ArgumentArity.OneOrMore,
    };

    private static readonly Option<FileInfo?> Json = new("--json") { Description = "Write every site and limit.", HelpName = "FILE" };

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        """
        Sites are matched by method and type. Two rates differ where their 95 % intervals are apart; a difference inside of them
        is no difference, and fails nothing. Give the program the same load in both runs.

        Limits:
          bytes:+5%          all bytes allocated per second
          site:+20%          the bytes of any one site that has 2 % of all, new sites too
          collections:+10%   all collections per second
          pool:+0            sites that came or grew and should be pooled
          fault:+0           pools with misuse that they had not before

        Examples:
          tidepool advise diff main.json branch.json
          tidepool advise diff main.json branch.json --fail-on bytes:+5% --fail-on pool:+0

        Exit codes: 0 fine, 1 a limit is exceeded, 2 wrong usage: also a file that is no report; 3 a file cannot be written.
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(Name, "Compares two reports of tidepool advise --json: which sites grew, shrank, came and went.")
        {
            Base, New, FailOn, Json,
        };
        verb.Validators.Add(static result =>
        {
            if (result.Parent?.Tokens is [var word, ..])
            {
                result.AddError($"diff compares two files, and no process: {word.Value}");
            }

            foreach (var argument in (Argument<FileInfo>[])[Base, New])
            {
                if (result.GetValue(argument) is { Exists: false } missing)
                {
                    result.AddError($"There is no file '{missing}'.");
                }
            }

            foreach (string text in result.GetValue(FailOn) ?? [])
            {
                if (!FailLimit.TryParse(text, out _))
                {
                    result.AddError($"--fail-on is '{text}'; allowed are, with other numbers, {FailLimit.Allowed}.");
                }
            }
        });
        verb.SetAction(RunAsync);
        return verb;
    }

    private static async Task<int> RunAsync(ParseResult parsed, CancellationToken ended)
    {
        FileInfo before = parsed.GetValue(Base)!;
        FileInfo after = parsed.GetValue(New)!;
        if (await ReadAsync(before, ended) is not { } first || await ReadAsync(after, ended) is not { } second)
        {
            return ExitRule.BadUsage;
        }

        AdviceDiff diff = AdviceDiff.Of(first, second);
        LimitResult[] limits =
        [
            .. from text in parsed.GetValue(FailOn) ?? []
               let limit = FailLimit.TryParse(text, out var known) ? known : throw new InvalidOperationException(text)
               select limit.Check(diff),
        ];
        AdviceDiffText.Print(ConsoleReport.CreateConsole(), diff, (before.ToString(), after.ToString()), limits);
        int written = parsed.GetValue(Json) is { } file
            ? await ReportFiles.WriteAsync(file, AdviceDiffJson.Write(diff, limits))
            : ExitRule.Ok;
        return limits.Any(static result => result.State == LimitState.Exceeded) ? ExitRule.VerdictFailed : written;
    }

    private static async Task<AdviceFile?> ReadAsync(FileInfo file, CancellationToken ended)
    {
        try
        {
            return AdviceFile.Read(await File.ReadAllTextAsync(file.FullName, ended));
        }
        catch (JsonException failure)
        {
            Console.Error.WriteLine($"tidepool: '{file}' is no report of tidepool advise --json that can be compared: {failure.Message}");
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"tidepool: '{file}' cannot be read: {failure.Message}");
        }

        return null;
    }
}
