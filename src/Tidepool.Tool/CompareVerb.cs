using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Text.Json;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool compare</c>: two results of <c>tidepool lab --json</c> side by side.</summary>
internal static class CompareVerb
{
    /// <summary>What the user types.</summary>
    public const string Name = "compare";

    private const double LowestLimit = 1;
    private const double HighestLimit = 10;

    private static readonly Argument<FileInfo> FileA =
        new("A.json") { Description = "The result to compare with, of tidepool lab --json." };
    private static readonly Argument<FileInfo> FileB = new("B.json") { Description = "The result that may have become slower or faster." };
    private static readonly Option<double?> FailAbove = new("--fail-above")
    {
        Description = "Exit with code 1 when the whole interval of a row's B/A lies above this factor, "
            + "1.00 to 10.00; 1.05 is a good one.",
        HelpName = "FACTOR",
        CustomParser = ParseLimit,
    };

    private static readonly Option<bool> Ours = new("--ours") { Description = "Leave out the rows of rivals." };
    private static readonly Option<bool> All =
        new("--all") { Description = "Show rows without difference and undecided ones too, and name every missing row." };

    private static readonly Option<FileInfo?> Html =
        new("--html") { Description = "Write one self-contained page.", HelpName = "FILE" };

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        """
        Each row is the time over that of the baseline in its cell, measured in the same rounds. Rows are matched by lab, cell
        and subject; B/A is the one ratio over the other, with the widest interval that the two intervals allow. So a row is
        called slower or faster only where the intervals of the two runs do not overlap.

        Examples:
          tidepool compare before.json after.json                           what changed
          tidepool compare before.json after.json --all                     every row
          tidepool compare before.json after.json --html changes.html       a page of it
          tidepool compare main.json branch.json --ours --fail-above 1.05   for CI

        Exit codes: 0 ok, 1 a row is above the limit, 2 wrong usage: also a file that is no result, or two results that
        have no row in common. A row that only one of them has is named, and fails nothing.
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(Name, "Compares two results of tidepool lab --json: "
            + "what became slower, what faster.") { FileA, FileB, FailAbove, Ours, All, Html };
        verb.Validators.Add(result =>
        {
            foreach (var argument in (Argument<FileInfo>[])[FileA, FileB])
            {
                if (result.GetValue(argument) is { Exists: false } missing)
                {
                    result.AddError($"There is no file '{missing}'.");
                }
            }

            if (result.GetValue(Html) is { Directory: not { Exists: true } } page)
            {
                result.AddError($"The folder of --html '{page}' does not exist.");
            }
        });
        verb.SetAction(Run);
        return verb;
    }

    private static int Run(ParseResult parsed)
    {
        FileInfo a = parsed.GetValue(FileA)!;
        FileInfo b = parsed.GetValue(FileB)!;
        if (Read(a) is not var (first, textA) || Read(b) is not var (second, textB))
        {
            return ExitRule.BadUsage;
        }

        var comparison = ResultComparison.Of(first, second, parsed.GetValue(Ours));
        double? limit = parsed.GetValue(FailAbove);
        var options = new ComparisonOptions
        {
            NameA = a.ToString(),
            NameB = b.ToString(),
            IsSame = textA == textB,
            ShowAll = parsed.GetValue(All),
            FailAbove = limit,
        };
        ComparisonReport.Print(ConsoleReport.CreateConsole(), comparison, options);
        if (parsed.GetValue(Html) is { } page)
        {
            File.WriteAllText(page.FullName, ComparisonPage.Write(comparison, options));
            Console.WriteLine($"Page: {page}");
        }

        if (comparison.Rows.Count == 0)
        {
            Console.Error.WriteLine("tidepool: the two results have no row in common, so nothing was compared.");
            return ExitRule.BadUsage;
        }

        return limit is { } factor && comparison.Above(factor).Any() ? ExitRule.VerdictFailed : ExitRule.Ok;
    }

    private static (ResultFile Result, string Text)? Read(FileInfo file)
    {
        try
        {
            string text = File.ReadAllText(file.FullName);
            return (ResultJson.Read(text), text);
        }
        catch (JsonException failure)
        {
            Console.Error.WriteLine($"tidepool: '{file}' is no result of tidepool lab --json: {failure.Message}");
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"tidepool: '{file}' cannot be read: {failure.Message}");
        }

        return null;
    }

    /// <summary>Reads a factor the same way in every language: a comma is refused, not taken for a separator of thousands.</summary>
    private static double? ParseLimit(ArgumentResult result)
    {
        string text = result.Tokens is [var token] ? token.Value : "";
        if (double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double limit)
            && limit is >= LowestLimit and <= HighestLimit)
        {
            return limit;
        }

        result.AddError($"The factor of --fail-above is '{text}'; it must be a number from 1.00 to 10.00, such as 1.05.");
        return null;
    }
}
