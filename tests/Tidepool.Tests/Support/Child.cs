using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text.Json.Nodes;
using Tidepool.Tests.Common;
using Tidepool.Tests.Diagnostics.Telemetry;
using Tidepool.Tests.HitPaths;

namespace Tidepool.Tests.Support;

/// <summary>The test assembly as a program of its own: scenarios that need a fresh process run in a child.</summary>
public static class Child
{
    public const string Checks = "checks";
    public const string Stacks = "stacks";
    public const string Unlimited = "unlimited";
    public const string Nested = "nested";
    public const string Destructors = "destructors";
    public const string Reports = "reports";
    public const string HitPaths = "hit-paths";
    public const string Idle = "idle";
    public const string Supply = "supply";
    public const string Listeners = "listeners";
    public const string NameOfDroppingMethod = nameof(DropInAMethodWithThisName);
    public const string NameOfRentingMethod = nameof(RentInAMethodWithThisName);

    private const string EventSourceSwitch = "System.Diagnostics.Tracing.EventSource.IsSupported";

    /// <summary>The entry point of the assembly; the test runner does not use it.</summary>
    public static int Main(string[] args)
    {
        ArgumentNullException.ThrowIfNull(args);
        switch (args)
        {
            case [Checks]:
                PrintChecks();
                return 0;
            case [Reports]:
                PrintReports();
                return 0;
            case [Stacks]:
                StackNeighbours.Run();
                return 0;
            case [Unlimited]:
                OddStacks.RunWithoutLimit();
                return 0;
            case [Nested]:
                OddStacks.RunNested();
                return 0;
            case [Destructors]:
                OddStacks.RunDestructors();
                return 0;
            case [HitPaths]:
                HitPathProgram.Run();
                return 0;
            case [Supply]:
                SupplyProcess.RunAsync().GetAwaiter().GetResult();
                return 0;
            case [Listeners]:
                ThrowingListenerTests.RentFirst();
                return 0;
            case [Idle]:
                IdleProcess.Run();
                return 0;
            default:
                Console.Error.WriteLine("This is a test assembly: run it with 'dotnet test'.");
                return 2;
        }
    }

    /// <summary>Runs one scenario in a child process with TIDEPOOL_CHECKS set as given.</summary>
    /// <param name="scenario">One of the constants above.</param>
    /// <param name="checks">TIDEPOOL_CHECKS, or null.</param>
    /// <param name="identity">TIDEPOOL_IDENTITY, or null for that of this process.</param>
    /// <param name="withoutStackLimit">
    /// Whether the main thread's stack has no limit and large blocks come from the heap; only where
    /// <see cref="UnlimitedStack.Missing"/> is null.
    /// </param>
    /// <param name="eventSources">False: the runtime has no event sources, as in a trimmed program and under native AOT.</param>
    /// <param name="environment">More variables, or null.</param>
    public static (int Code, string Output, string Error) Run(
        string scenario, string? checks, string? identity = null, bool withoutStackLimit = false, bool eventSources = true,
        Dictionary<string, string>? environment = null)
    {
        string? config = eventSources ? null : WriteConfigWithoutEventSources();
        string dotnet = Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet";
        ProcessStartInfo start = new(withoutStackLimit ? "/bin/sh" : dotnet)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        if (withoutStackLimit)
        {
            start.ArgumentList.Add("-c");
            start.ArgumentList.Add($"{UnlimitedStack.Command} && exec \"$0\" \"$@\"");
            start.ArgumentList.Add(dotnet);
            start.Environment["MALLOC_MMAP_THRESHOLD_"] = "1073741824";
            start.Environment["MALLOC_ARENA_MAX"] = "1";
        }

        start.ArgumentList.Add("exec");
        if (config is not null)
        {
            start.ArgumentList.Add("--runtimeconfig");
            start.ArgumentList.Add(config);
        }

        start.ArgumentList.Add(typeof(Child).Assembly.Location);
        start.ArgumentList.Add(scenario);
        start.Environment.Remove("TIDEPOOL_CHECKS");
        start.Environment["DOTNET_NOLOGO"] = "1";
        if (checks is not null)
        {
            start.Environment["TIDEPOOL_CHECKS"] = checks;
        }

        if (identity is not null)
        {
            start.Environment[StackIdentity.Variable] = identity;
        }

        foreach ((string name, string value) in environment ?? [])
        {
            start.Environment[name] = value;
        }

        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> error = process.StandardError.ReadToEndAsync();
        Assert.True(process.WaitForExit(TimeSpan.FromMinutes(2)), "The child process did not end.");
        if (config is not null)
        {
            File.Delete(config);
        }

        return (process.ExitCode, output.GetAwaiter().GetResult(), error.GetAwaiter().GetResult());
    }

    private static string WriteConfigWithoutEventSources()
    {
        JsonNode config = JsonNode.Parse(File.ReadAllText(Path.ChangeExtension(typeof(Child).Assembly.Location, ".runtimeconfig.json")))!;
        JsonNode options = config["runtimeOptions"]!;
        options["configProperties"] ??= new JsonObject();
        options["configProperties"]![EventSourceSwitch] = false;
        string file = Path.Combine(Path.GetTempPath(), $"tidepool-{Guid.NewGuid():N}.runtimeconfig.json");
        File.WriteAllText(file, config.ToJsonString());
        return file;
    }

    /// <summary>Drops a lease and returns another twice; the reports go to standard error, and the callback's to standard output.</summary>
    private static void PrintReports()
    {
        using var told = new CountdownEvent(2);
        PoolDiagnostics.MisuseReported += static _ => throw new InvalidOperationException("as asked");
        PoolDiagnostics.MisuseReported += report =>
        {
            Console.WriteLine($"callback: {report.Kind} {report.PoolName}");
            told.Signal();
        };
        Console.WriteLine($"event sources: {!AppContext.TryGetSwitch(EventSourceSwitch, out bool isSupported) || isSupported}");
        using BufferPool<int> pool = BufferPool<int>.Create(new() { Name = "reported" });
        BufferLease<int> lease = pool.Rent(100);
        lease.Return();
        try
        {
            lease.Return();
        }
        catch (PoolMisuseException misuse)
        {
            Console.WriteLine($"return: {misuse.Kind}");
        }

        DropInAMethodWithThisName(pool);
        for (int i = 0; !told.IsSet && i < 600; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            told.Wait(100);
        }

        Console.WriteLine($"both told: {told.IsSet}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropInAMethodWithThisName(BufferPool<int> pool) => pool.Rent(3000).Span.Clear();

    private static void PrintChecks()
    {
        using BufferPool<int> pool = BufferPool<int>.Create(new() { Name = "child" });
        using BufferPool<int> off = BufferPool<int>.Create(new() { Checks = PoolChecks.Off });
        Console.WriteLine($"shared: {BufferPool<byte>.Shared.Checks}");
        Console.WriteLine($"created: {pool.Checks}");
        Console.WriteLine($"option: {off.Checks}");

        BufferLease<int> lease = RentInAMethodWithThisName(pool);
        lease.Return();
        try
        {
            lease.Return();
            Console.WriteLine("return: nothing");
        }
        catch (PoolMisuseException misuse)
        {
            Console.WriteLine($"return: {misuse.Kind}");
            Console.WriteLine(misuse.Message);
        }

        using BufferLease<int> first = pool.Rent(100);
        using BufferLease<int> second = pool.Rent(100);
        first.Span.Fill(1);
        second.Span.Fill(2);
        Console.WriteLine($"two renters: {first.Span[0] == 2}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static BufferLease<int> RentInAMethodWithThisName(BufferPool<int> pool) => pool.Rent(100);
}
