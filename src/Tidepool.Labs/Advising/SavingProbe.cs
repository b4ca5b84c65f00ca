using System.Globalization;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>The ends of an estimate.</summary>
internal readonly record struct Estimated(double Low, double High)
{
    /// <summary>Whether it is that nothing can be told.</summary>
    public bool IsNothing => High == 0;

    /// <summary>Whether a number lies within.</summary>
    public bool Holds(double value) => Low <= value && value <= High;

    /// <summary>Reads an interval of a report, in another unit.</summary>
    public static Estimated Of(JsonElement interval, double unit) =>
        new(interval.GetProperty("low").GetDouble() * unit, interval.GetProperty("high").GetDouble() * unit);
}

/// <summary>What <c>advise</c> estimates of a program for each of its operations; null where it says that nothing is saved.</summary>
/// <param name="Bytes">Bytes that are no longer allocated.</param>
/// <param name="Nanoseconds">Processor time.</param>
internal sealed record EstimatedSaving(Estimated Bytes, Estimated Nanoseconds)
{
    /// <summary>Reads the report of a program whose operations come at a pace.</summary>
    public static EstimatedSaving? Of(JsonElement report, double operationsPerSecond) =>
        report.TryGetProperty("saving", out JsonElement saving)
            ? new(
                Estimated.Of(saving.GetProperty("bytesPerSecond"), 1 / operationsPerSecond),
                Estimated.Of(saving.GetProperty("processors"), 1e9 / operationsPerSecond))
            : null;
}

/// <summary>What <c>advise --verify</c> measured for each operation.</summary>
/// <param name="Bytes">Bytes that are no longer allocated.</param>
/// <param name="Nanoseconds">Processor time.</param>
/// <param name="TimeAnswer">What it says of the processor time.</param>
internal sealed record VerifiedSaving(double Bytes, double Nanoseconds, string TimeAnswer)
{
    /// <summary>Reads the report of runs with so many operations.</summary>
    public static VerifiedSaving Of(JsonElement report, double operations)
    {
        JsonElement time = MeasureOf(report, "processor time");
        return new(
            -ChangeOf(MeasureOf(report, "allocated")) / operations, -1e9 * ChangeOf(time) / operations,
            time.GetProperty("answer").GetString()!);
    }

    /// <summary>
    /// Whether bytes and time both lie within an estimate. Where it says that no time can be told, the runs must not tell any. No estimate
    /// is one that was missed.
    /// </summary>
    public bool IsWithin(EstimatedSaving? estimate) => estimate is not null
        && estimate.Bytes.Holds(Bytes)
        && (estimate.Nanoseconds.IsNothing ? TimeAnswer is "noDifference" or "notTold" : estimate.Nanoseconds.Holds(Nanoseconds));

    /// <summary>Whether it was right to advise nothing: the runs tell that no less processor time is used.</summary>
    public bool ConfirmsNone(EstimatedSaving? estimate) => estimate is null && TimeAnswer is ("noDifference" or "more");

    private static JsonElement MeasureOf(JsonElement report, string name) =>
        report.GetProperty("measures").EnumerateArray().Single(measure => measure.GetProperty("name").GetString() == name);

    private static double ChangeOf(JsonElement measure) => measure.GetProperty("change").GetProperty("value").GetDouble();
}

/// <summary>Lets <c>advise</c> estimate what pooling saves in a planted program, and <c>advise --verify</c> measure it.</summary>
internal static class SavingProbe
{
    /// <summary>The metric that is 1 where the verified saving is not within the estimate, or a trap was advised or saves time.</summary>
    public const string Outside = "outside_count";

    private const int Seconds = 5;

    /// <summary>Until its code is compiled for the last time: before, what is inlined later has frames of its own.</summary>
    private static readonly TimeSpan Steady = TimeSpan.FromSeconds(3);

    /// <summary>Runs it.</summary>
    /// <exception cref="LabProcessException">A program failed.</exception>
    public static Dictionary<string, double> Run(PlantedPair pair)
    {
        EstimatedSaving? estimate = Estimate(pair);
        VerifiedSaving verified = Verify(pair);
        return new()
        {
            ["bytes at least_B"] = estimate?.Bytes.Low ?? 0,
            ["bytes at most_B"] = estimate?.Bytes.High ?? 0,
            ["bytes verified_B"] = verified.Bytes,
            ["time at least_ns"] = estimate?.Nanoseconds.Low ?? 0,
            ["time at most_ns"] = estimate?.Nanoseconds.High ?? 0,
            ["time verified_ns"] = verified.Nanoseconds,
            [Outside] = (pair.IsTrap ? verified.ConfirmsNone(estimate) : verified.IsWithin(estimate)) ? 0 : 1,
        };
    }

    private static EstimatedSaving? Estimate(PlantedPair pair)
    {
        using PinnedProcess program = PinnedProcess.Start(
            $"The program '{pair.Name}'", ChildCommand.OfThisProgram(), CorePair.OfThisMachine()!.Value.Server,
            PlantedProgram.Argument, pair.Name, PlantedProgram.Before, PlantedProgram.Paced);
        program.Receive<int>();
        Thread.Sleep(Steady);
        var (_, report) = ToolRun.WithReport(file => ToolRun.Of(
            ChildCommand.OfThisProgram(), CorePair.OfThisMachine()!.Value.Client,
            "advise", Text(program.Id), "--seconds", Text(Seconds), "--json", file));
        return EstimatedSaving.Of(report, pair.OperationsPerSecond);
    }

    private static VerifiedSaving Verify(PlantedPair pair)
    {
        var (_, report) = ToolRun.WithReport(file => ToolRun.Of(
            ChildCommand.OfThisProgram(), core: null,
            "advise", "--verify", "--before", CommandOf(pair, PlantedProgram.Before), "--after", CommandOf(pair, PlantedProgram.After),
            "--json", file));
        return VerifiedSaving.Of(report, pair.Operations);
    }

    private static string CommandOf(PlantedPair pair, string variant)
    {
        ChildCommand command = ChildCommand.OfThisProgram();
        return string.Join(' ', ((IEnumerable<string>)
        [
            command.FileName, .. command.LeadingArguments, PlantedProgram.Argument, pair.Name, variant, Text(pair.Operations),
        ]).Select(static word => $"\"{word}\""));
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
