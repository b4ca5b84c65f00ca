using System.Globalization;
using System.Reflection;

namespace Tidepool.Advice;

/// <summary>
/// Carries the startup hook into programs, and reads what it wrote: a file for each process of .NET that ended.
/// </summary>
internal sealed class CounterFiles : IDisposable
{
    private const string HookName = "Tidepool.Counters.dll";
    private const string HooksVariable = "DOTNET_STARTUP_HOOKS";
    private const string FolderVariable = "TIDEPOOL_COUNTERS_FOLDER";

    private readonly TemporaryFolder _folder = new("tidepool-verify-");
    private readonly string _hook;
    private DirectoryInfo? _counts; // of the last program; null before the first

    public CounterFiles()
    {
        _hook = Path.Combine(_folder.Info.FullName, HookName);
        using Stream hook = Assembly.GetExecutingAssembly().GetManifestResourceStream(HookName)!;
        using FileStream file = File.Create(_hook);
        hook.CopyTo(file);
    }

    /// <summary>
    /// Sets what a program needs to load the hook, beside the hooks that it has. What processes of an earlier program still write is not
    /// counted from then on.
    /// </summary>
    public void AddTo(IDictionary<string, string?> environment)
    {
        string? others = environment.TryGetValue(HooksVariable, out string? known) ? known : null;
        environment[HooksVariable] = string.IsNullOrEmpty(others) ? _hook : $"{_hook}{Path.PathSeparator}{others}";
        _counts = _folder.Info.CreateSubdirectory(Guid.NewGuid().ToString("N"));
        environment[FolderVariable] = _counts.FullName;
    }

    /// <summary>The counts of all processes that have ended since the last call, together; null when there are none.</summary>
    public CollectorCounts? Take()
    {
        if (_counts is null)
        {
            return null;
        }

        CollectorCounts? sum = null;
        foreach (FileInfo file in _counts.GetFiles().Where(static file => file.Extension.Length == 0)) // others are not finished
        {
            CollectorCounts one = Parse(File.ReadAllLines(file.FullName));
            file.Delete();
            sum = sum is null ? one : new CollectorCounts
            {
                Allocated = sum.Allocated + one.Allocated,
                Collections = [.. sum.Collections.Zip(one.Collections, static (a, b) => a + b)],
                PausedSeconds = sum.PausedSeconds + one.PausedSeconds,
                PeakBytes = Math.Max(sum.PeakBytes, one.PeakBytes),
            };
        }

        return sum;
    }

    /// <inheritdoc/>
    public void Dispose() => _folder.Dispose();

    /// <summary>Reads what the hook wrote: a name and a number in each line.</summary>
    internal static CollectorCounts Parse(IReadOnlyList<string> lines)
    {
        var values = lines.Select(static line => line.Split(' ', 2)).Where(static parts => parts is [_, { Length: > 0 }])
            .ToDictionary(static parts => parts[0], static parts => double.Parse(parts[1], CultureInfo.InvariantCulture));
        return new CollectorCounts
        {
            Allocated = values["allocated"],
            Collections = [values["gen0"], values["gen1"], values["gen2"]],
            PausedSeconds = values.GetValueOrDefault("paused") / 1000,
            PeakBytes = (long)values.GetValueOrDefault("peak"),
        };
    }
}
