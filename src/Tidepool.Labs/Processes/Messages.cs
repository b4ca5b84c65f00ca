using System.Text.Json;
using System.Text.Json.Serialization;

namespace Tidepool.Labs;

/// <summary>What the parent asks of a child: exactly one of the members is set.</summary>
internal sealed record ChildRequest(IReadOnlyList<int>? Prepare = null, MeasureRequest? Measure = null, int? Probe = null);

/// <summary>Rounds of some workloads, by their index in the plan.</summary>
internal sealed record MeasureRequest(IReadOnlyList<int> Workloads, int Rounds, int BatchMicroseconds);

/// <summary>One line from a child: exactly one of the members is set.</summary>
internal sealed record ChildMessage(
    double? Progress = null,
    bool? Quiet = null,
    bool? Prepared = null,
    MeasureReply? Measured = null,
    ProbeReply? Probed = null,
    string? Failure = null);

/// <summary>What was measured, and what could not be.</summary>
internal sealed record MeasureReply(IReadOnlyList<WorkloadRounds> Rounds, IReadOnlyList<DroppedWorkload> Dropped);

/// <summary>The rounds of one workload; null where a round has no sample.</summary>
internal sealed record WorkloadRounds(int Workload, IReadOnlyList<Sample?> Samples);

/// <summary>A workload without result, and why.</summary>
internal sealed record DroppedWorkload(int Workload, string Reason);

/// <summary>What a probe found; null when its subject is not there.</summary>
internal sealed record ProbeReply(IReadOnlyDictionary<string, double>? Metrics)
{
    /// <summary>Runs a probe in this process.</summary>
    /// <exception cref="LabProcessException">It failed.</exception>
    /// <exception cref="OperationCanceledException">The run was stopped.</exception>
    public static async Task<ProbeReply> OfAsync(Probe probe, Action quiet, CancellationToken stop)
    {
        var site = new ProbeSite(quiet) { Stop = stop };
        try
        {
            return new(await Task.Run(() => probe.Run(site), stop));
        }
        catch (Exception failure) when (failure is not (LabProcessException or OperationCanceledException))
        {
            throw new LabProcessException(failure.GetBaseException().Message);
        }
    }
}

/// <summary>One message is one line of JSON.</summary>
internal static class MessageLine
{
    private static readonly JsonSerializerOptions Options = new()
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
    };

    /// <summary>Writes a message as one line.</summary>
    public static string Write<T>(T message) => JsonSerializer.Serialize(message, Options);

    /// <summary>Reads a message.</summary>
    /// <exception cref="JsonException">The line is no such message.</exception>
    public static T Read<T>(string line) => JsonSerializer.Deserialize<T>(line, Options)
        ?? throw new JsonException("The line is empty.");
}
