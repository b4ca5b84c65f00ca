using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>Finds the .NET processes of this machine, and says why one cannot be looked at.</summary>
internal static partial class TargetCatalog
{
    private const int MostNamed = 4;

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

        IReadOnlyList<TargetProcess> processes = List();
        return FittingOf(target, processes).Length == 0 && NativesOf(target) is [_, ..] natives
            ? throw Native(natives)
            : Choose(target, processes);
    }

    /// <summary>Chooses by name: one whose name is exactly this wins over those that contain it.</summary>
    /// <exception cref="TargetException">No process fits, or several do.</exception>
    internal static TargetProcess Choose(string name, IReadOnlyList<TargetProcess> processes)
    {
        return FittingOf(name, processes) switch
        {
            [var one] => one,
            [] => throw new TargetException(
                TargetProblem.WrongTarget,
                $"no .NET process that you may attach to has '{name}' in its name. See: tidepool ps"),
            var fitting => throw new TargetException(
                TargetProblem.WrongTarget,
                $"{fitting.Length} processes fit '{name}': {string.Join(", ", fitting.Select(p => $"{p.Id} {p.Name}"))}. Give the number."),
        };
    }

    /// <summary>Why native programs are not looked at while they run.</summary>
    /// <param name="processes">One or more.</param>
    internal static TargetException Native(IReadOnlyList<TargetProcess> processes)
    {
        string some = string.Join(", ", processes.Take(MostNamed).Select(static process => $"{process.Id} {process.Name}"));
        string more = processes.Count > MostNamed ? $" and {processes.Count - MostNamed} more" : "";
        string subject = processes is [var one]
            ? $"process {one.Id} ({one.Name}) is a native program"
            : $"{processes.Count} native programs fit: {some}{more}";
        return new TargetException(
            TargetProblem.WrongTarget,
            $"{subject}. Run it as: tidepool advise -- COMMAND. The library that records what it allocates has to be there from its "
                + "start.");
    }

    /// <summary>The processes whose name is exactly this; those that contain it where there is none.</summary>
    private static TargetProcess[] FittingOf(string name, IEnumerable<TargetProcess> processes)
    {
        TargetProcess[] fitting = [.. processes.Where(process => process.Name.Contains(name, StringComparison.OrdinalIgnoreCase))];
        TargetProcess[] exact = [.. fitting.Where(process => process.Name.Equals(name, StringComparison.OrdinalIgnoreCase))];
        return exact.Length > 0 ? exact : fitting;
    }

    /// <summary>This user's native programs of a name.</summary>
    private static TargetProcess[] NativesOf(string name)
    {
        List<TargetProcess> named = [];
        foreach (Process process in Process.GetProcesses())
        {
            using (process)
            {
                named.Add(new TargetProcess { Id = process.Id, Name = NameOf(process) });
            }
        }

        return [.. FittingOf(name, named).Where(static process => process.Name.Length > 0 && IsOwn(process.Id) && IsNative(process.Id))];
    }

    private static bool IsOwn(int id) => id != Environment.ProcessId && SystemProcess.OwnerOf(id) == SystemProcess.User;

    /// <summary>
    /// Whether a process runs a native program without a runtime of .NET. A diagnostic port proves nothing: the socket of a .NET process
    /// that was killed stays, and its number may be that of another process by now.
    /// </summary>
    private static bool IsNative(int id) => !SystemProcess.IsRuntimeLoaded(id) && NativeProgram.IsNativeProcess(id);

    private static string NameOf(Process process)
    {
        try
        {
            return SystemProcess.Printable(process.ProcessName);
        }
        catch (InvalidOperationException)
        {
            return ""; // it has ended
        }
    }

    private static TargetProcess FindById(int id)
    {
        if (id == Environment.ProcessId)
        {
            throw new TargetException(TargetProblem.WrongTarget, $"process {id} is tidepool itself.");
        }

        string name;
        try
        {
            using var process = Process.GetProcessById(id);
            name = NameOf(process);
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

        if (IsNative(id))
        {
            throw Native([new TargetProcess { Id = id, Name = name }]);
        }

        if (!DiagnosticsClient.GetPublishedProcesses().Contains(id))
        {
            bool isRuntimeLoaded = SystemProcess.IsRuntimeLoaded(id);
            throw new TargetException(
                isRuntimeLoaded ? TargetProblem.OutOfReach : TargetProblem.WrongTarget,
                isRuntimeLoaded
                    ? $"process {id} is a .NET process without a diagnostic port. Its socket was deleted, it was started with "
                        + "DOTNET_EnableDiagnostics=0, or its TMPDIR is not yours."
                    : $"process {id} is not a .NET process, or has no diagnostic port. See: tidepool ps");
        }

        return Describe(id) ?? throw new TargetException(TargetProblem.WrongTarget, $"process {id} has just ended.");
    }

    /// <summary>What the system says of a process; null when it has ended, or is a native one.</summary>
    private static TargetProcess? Describe(int id)
    {
        try
        {
            using var process = Process.GetProcessById(id);
            string[] words = SystemProcess.CommandLineOf(id);
            string[] modules = SystemProcess.ModulesOf(process);
            bool isOfKernel = OperatingSystem.IsLinux() && words.Length == 0 && modules.Length == 0;
            if (isOfKernel || (!SystemProcess.HasRuntime(modules) && NativeProgram.IsNativeProcess(id)))
            {
                return null; // it has the number of a program of .NET that was killed
            }

            return new TargetProcess
            {
                Id = id,
                Name = CommandLines.NameOf(words, NameOf(process)),
                CommandLine = string.Join(' ', words),
                Runtime = RuntimeOf(modules),
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

    /// <summary>
    /// The version of the runtime, by the folder that programs share it from, or by its library, which a self-contained program has beside
    /// it. Empty where both are in one file with the program.
    /// </summary>
    internal static string RuntimeOf(string[] modules)
    {
        if (modules.Select(static module => RuntimePath().Match(module)).FirstOrDefault(static match => match.Success) is { } match)
        {
            return match.Groups["version"].Value;
        }

        string? library = modules.FirstOrDefault(static module => Path.GetFileName(module) == "System.Private.CoreLib.dll");
        string version = File.Exists(library) ? FileVersionInfo.GetVersionInfo(library).ProductVersion ?? "" : "";
        return version.Split('-', '+')[0];
    }

    [GeneratedRegex(@"Microsoft\.NETCore\.App[/\\](?<version>[^/\\]+)[/\\](lib)?coreclr\.")]
    private static partial Regex RuntimePath();
}
