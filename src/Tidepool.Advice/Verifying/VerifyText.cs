namespace Tidepool.Advice;

/// <summary>Prints a comparison for a terminal of 80 columns.</summary>
internal static class VerifyText
{
    /// <summary>Prints the commands, a line for each measure, and what the answers mean.</summary>
    public static void Print(TextWriter output, VerifyReport report)
    {
        output.WriteLine($"before: {report.Before}");
        output.WriteLine($"after:  {report.After}");
        output.WriteLine(
            $"{report.BeforeRuns.Count} runs each in turns, and one of each before that warms up; "
                + $"{Quantity.Percent(Difference.Confidence)} intervals");
        output.WriteLine();
        output.WriteLine(Row("", "before", "after", "change", ""));
        foreach (var measure in report.Measures)
        {
            output.WriteLine(measure.Difference is { } difference
                ? Row(
                    measure.Name,
                    Write(measure.Unit, difference.Before),
                    Write(measure.Unit, difference.After),
                    Change(measure.Unit, difference),
                    Word(difference.Answer))
                : Row(measure.Name, "-", "-", "-", ""));
        }

        output.WriteLine();
        foreach (string line in Notes(report))
        {
            output.WriteLine(line);
        }
    }

    internal static string Word(VerifyAnswer answer) => answer switch
    {
        VerifyAnswer.Less => "less",
        VerifyAnswer.More => "more",
        VerifyAnswer.NoDifference => "no difference",
        _ => "not told",
    };

    private static IEnumerable<string> Notes(VerifyReport report)
    {
        var answers = report.Measures.Select(static measure => measure.Difference?.Answer).ToHashSet();
        if (answers.Contains(VerifyAnswer.NoDifference))
        {
            yield return $"no difference: the whole interval lies within {Quantity.Percent(Difference.Tolerance)} of equal.";
        }

        if (answers.Contains(VerifyAnswer.NotTold))
        {
            yield return "not told: the runs differ too much among themselves; more --runs, or a quiet machine.";
        }

        if (!report.HasCollectors)
        {
            yield return "A program is not of .NET, or its runtime loads no startup hook (native AOT,";
            yield return "trimmed): allocations and collections of such a program are not known.";
        }
    }

    /// <summary>80 columns.</summary>
    private static string Row(string name, string before, string after, string change, string answer) =>
        $"{name,-17}{before,9}{after,10}  {change,-28} {answer}".TrimEnd();

    private static string Change(VerifyUnit unit, Difference difference)
    {
        if (difference.Ratio is { } ratio)
        {
            return $"{Quantity.Change(ratio.Value)} ({Quantity.Change(ratio.Low)} to {Quantity.Change(ratio.High)})";
        }

        Interval change = difference.Change;
        return $"{Write(unit, change.Value)} ({Write(unit, change.Low)} to {Write(unit, change.High)})";
    }

    private static string Write(VerifyUnit unit, double value) => unit switch
    {
        VerifyUnit.Bytes => Quantity.Bytes(value),
        VerifyUnit.Seconds => Quantity.Time(value * 1000),
        _ => Quantity.Count(value),
    };
}
