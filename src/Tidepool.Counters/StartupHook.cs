using System.Globalization;
using System.Reflection;

/// <summary>
/// What a runtime calls before the program's own code, where <c>DOTNET_STARTUP_HOOKS</c> names this assembly: it asks for this type, by
/// this name and without a namespace. When the program ends, the counters of its collector are written to a file.
/// </summary>
internal static class StartupHook
{
    private const string Folder = "TIDEPOOL_COUNTERS_FOLDER";
    private const string Unfinished = ".part";

    /// <summary>Waits for the end of the program.</summary>
    public static void Initialize()
    {
        string? folder = Environment.GetEnvironmentVariable(Folder);
        if (!string.IsNullOrEmpty(folder))
        {
            AppDomain.CurrentDomain.ProcessExit += (_, _) => Write(folder!);
        }
    }

    private static void Write(string folder)
    {
        try
        {
            // The counters first: what follows allocates.
            object? allocated = Call("GetTotalAllocatedBytes", true);
            int young = GC.CollectionCount(0);
            int middle = GC.CollectionCount(1);
            int full = GC.CollectionCount(2);
            var paused = (TimeSpan?)Call("GetTotalPauseDuration");
            string text = FormattableString.Invariant(
                $"allocated {allocated}\ngen0 {young - middle}\ngen1 {middle - full}\ngen2 {full}\n")
                + FormattableString.Invariant($"paused {paused?.TotalMilliseconds}\npeak {PeakBytes()}\n");
            // Whole or not at all: the tool may look while this process, one that it did not start itself, still ends.
            string file = Path.Combine(folder, Guid.NewGuid().ToString("N"));
            File.WriteAllText(file + Unfinished, text);
            File.Move(file + Unfinished, file);
        }
        catch (Exception)
        {
            // A program must end as it would without the hook; the tool says that the counters are missing.
        }
    }

    /// <summary>Calls a member of the collector that this runtime may not have.</summary>
    private static object? Call(string name, params object[] arguments) =>
        typeof(GC).GetMethod(name, BindingFlags.Public | BindingFlags.Static, null, Type.GetTypeArray(arguments), null)
            ?.Invoke(null, arguments);

    private static long PeakBytes()
    {
        const string Status = "/proc/self/status";
        if (!File.Exists(Status))
        {
            using var self = System.Diagnostics.Process.GetCurrentProcess();
            return self.PeakWorkingSet64;
        }

        string line = File.ReadLines(Status).First(static line => line.StartsWith("VmHWM:", StringComparison.Ordinal));
        return long.Parse(line.Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) * 1024;
    }
}
