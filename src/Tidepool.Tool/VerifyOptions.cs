using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using Tidepool.Advice;

namespace Tidepool.Tool;

/// <summary>The options of <c>tidepool advise --verify</c>.</summary>
internal static class VerifyOptions
{
    private const int MostRuns = 1000;
    private const int DefaultTimeout = 300;
    private const int LongestTimeout = 86_400;

    private static readonly Option<bool> Verify = new("--verify")
    {
        Description = "Run two commands in turns, ABBA, and compare bytes, collections, processor time, memory and wall time.",
    };

    private static readonly Option<string?> Before =
        new("--before") { Description = "With --verify: the command before the change, in one quoted word.", HelpName = "COMMAND" };

    private static readonly Option<string?> After =
        new("--after") { Description = "With --verify: the command after it.", HelpName = "COMMAND" };

    private static readonly Option<int?> Runs = new("--runs")
    {
        Description = $"With --verify: how often each command runs; {Verifier.FewestRuns} unless told, and no fewer.", HelpName = "N",
    };

    private static readonly Option<int?> Timeout = new("--timeout")
    {
        Description = $"With --verify: the seconds that one run may take; {DefaultTimeout} unless told.", HelpName = "SECONDS",
    };

    /// <summary>Adds them to the verb.</summary>
    public static void AddTo(Command verb)
    {
        foreach (Option option in (Option[])[Verify, Before, After, Runs, Timeout])
        {
            verb.Options.Add(option);
        }
    }

    /// <summary>Whether two commands are to be compared.</summary>
    public static bool IsGiven(ParseResult parsed) => parsed.GetValue(Verify);

    /// <summary>Whether two commands are to be compared, while the command line is being checked.</summary>
    public static bool IsGiven(CommandResult result) => result.GetValue(Verify);

    /// <summary>Refuses options that are missing, out of range or without use.</summary>
    /// <returns>Whether two commands are to be compared.</returns>
    public static bool Check(CommandResult result)
    {
        bool isGiven = IsGiven(result);
        foreach (Option<string?> option in (Option<string?>[])[Before, After])
        {
            if (string.IsNullOrWhiteSpace(result.GetValue(option)) && isGiven)
            {
                result.AddError($"--verify needs {option.Name} COMMAND, in quotes.");
            }
        }

        Option? idle = ((Option[])[Before, After, Runs, Timeout]).FirstOrDefault(option => result.GetResult(option) is not null);
        if (!isGiven && idle is not null)
        {
            result.AddError($"{idle.Name} is for --verify, which is not given.");
        }

        CheckRange(result, Runs, Verifier.FewestRuns, MostRuns);
        CheckRange(result, Timeout, 1, LongestTimeout);
        return isGiven;
    }

    /// <summary>Runs the commands; what runs next is said on standard error.</summary>
    /// <returns>The comparison; null when it was stopped.</returns>
    public static async Task<VerifyReport?> RunAsync(ParseResult parsed, CancellationToken stop)
    {
        VerifyCommand before = Read(parsed, Before);
        VerifyCommand after = Read(parsed, After);
        var timeout = TimeSpan.FromSeconds(parsed.GetValue(Timeout) ?? DefaultTimeout);
        try
        {
            return await Verifier.RunAsync(
                before, after, parsed.GetValue(Runs) ?? Verifier.FewestRuns, timeout, Console.Error.WriteLine, stop);
        }
        catch (OperationCanceledException)
        {
            Console.Error.WriteLine("tidepool: stopped; there is no result.");
            return null;
        }
    }

    private static VerifyCommand Read(ParseResult parsed, Option<string?> option) =>
        VerifyCommand.Parse([.. CommandLineParser.SplitCommandLine(parsed.GetValue(option)!)], option.Name[2..]);

    private static void CheckRange(CommandResult result, Option<int?> option, int least, int most)
    {
        if (result.GetValue(option) is { } value && (value < least || value > most))
        {
            result.AddError(string.Create(CultureInfo.InvariantCulture, $"{option.Name} is {value}; allowed is {least} to {most}."));
        }
    }
}
