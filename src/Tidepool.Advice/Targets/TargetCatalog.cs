using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>Finds the .NET processes of this machine, and says why one cannot be looked at.</summary>
internal static partial class TargetCatalog
{
    /// <summary>Every process that offers a diagnostic port to this user, without this one, in the order of their numbers.</summary>
    public static IReadOnlyList<TargetProcess> List() =>
    [
        .. DiagnosticsClient.GetPublishedProcesses()
            .Where(static id => id != Environment.ProcessId)
            .Distinct()
            .Order()
            .Select(Describe)
            .OfType<TargetProcess>(),
    ];

    /// <summary>The process of a number or a name.</summary>
    /// <param name="target">A number, or the name or a part of the name of exactly one process.</param>
    /// <exception cref="TargetException">There is none, there are several, or it cannot be reached.</exception>
    public static TargetProcess Find(string target)
    {
        if (int.TryParse(target, NumberStyles.None, CultureInfo.InvariantCulture, out int id))
        {
            return FindById(id);
        }

        return Choose(target, List());
    }

    /// <summary>Chooses by name: one whose name is exactly this wins over those that contain it.</summary>
    /// <exception cref="TargetException">No process fits, or several do.</exception>
    internal static TargetProcess Choose(string name, IReadOnlyList<TargetProcess> processes)
    {
        TargetProcess[] exact = [.. processes.Where(process => process.Name.Equals(name, StringComparison.OrdinalIgnoreCase))];
        TargetProcess[] fitting = exact.Length > 0
            ? exact
            : [.. processes.Where(process => process.Name.Contains(name, StringComparison.OrdinalIgnoreCase))];
        return fitting switch
        {
            [var one] => one,
            [] => throw new TargetException(
                TargetProblem.WrongTarget,
                $"no .NET process that you may attach to has '{name}' in its name. See: tidepool ps"),
            _ => throw new TargetException(
                TargetProblem.WrongTarget,
                $"{fitting.Length} processes fit '{name}': {string.Join(", ", fitting.Select(p => $"{p.Id} {p.Name}"))}. Give the number."),
        };
    }

    private static TargetProcess FindById(int id)
    {
        if (id == Environment.ProcessId)
        {
            throw new TargetException(TargetProblem.WrongTarget, $"process {id} is tidepool itself.");
        }

        try
        {
            using var process = Process.GetProcessById(id);
        }
        catch (ArgumentException)
        {
            throw new TargetException(TargetProblem.WrongTarget, $"there is no process {id}. See: tidepool ps");
        }

        if (SystemProcess.OwnerOf(id) is { } owner && SystemProcess.User is { } user && owner != user && user != "0")
        {
            throw new TargetException(
                TargetProblem.OutOfReach,
                $"process {id} belongs to user {owner} and you are user {user}: run tidepool as that user.");
        }

        if (!DiagnosticsClient.GetPublishedProcesses().Contains(id))
        {
            throw new TargetException(
                SystemProcess.IsRuntimeLoaded(id) ? TargetProblem.OutOfReach : TargetProblem.WrongTarget,
                SystemProcess.IsRuntimeLoaded(id)
                    ? $"process {id} is a .NET process without a diagnostic port. Its socket was deleted, it was started with "
                        + "DOTNET_EnableDiagnostics=0, or its TMPDIR is not yours."
                    : $"process {id} is not a .NET process, or has no diagnostic port. See: tidepool ps");
        }

        return Describe(id) ?? throw new TargetException(TargetProblem.WrongTarget, $"process {id} has just ended.");
    }

    /// <summary>What the system says of a process; null when it has ended.</summary>
    private static TargetProcess? Describe(int id)
    {
        try
        {
            using var process = Process.GetProcessById(id);
            string[] words = SystemProcess.CommandLineOf(id);
            string[] modules = SystemProcess.ModulesOf(process);
            return new TargetProcess
            {
                Id = id,
                Name = CommandLines.NameOf(words, process.ProcessName),
                CommandLine = string.Join(' ', words),
                Runtime = modules.Select(static module => RuntimePath().Match(module)).FirstOrDefault(static match => match.Success)
                    ?.Groups["version"].Value ?? "",
                UsesTidepool = modules.Any(static module => Path.GetFileName(module) == "Tidepool.dll"),
                WorkingSet = process.WorkingSet64,
                ProcessorTime = process.TotalProcessorTime,
            };
        }
        catch (Exception failure) when (failure is ArgumentException or InvalidOperationException)
        {
            return null;
        }
    }

    [GeneratedRegex(@"Microsoft\.NETCore\.App[/\\](?<version>[^/\\]+)[/\\](lib)?coreclr\.")]
    private static partial Regex RuntimePath();
}
