using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Perfolizer.Horology;

namespace Tidepool.Bench;

internal static class Program
{
    /// <summary>Runs the classes; 1 when no benchmark gave a result, because BenchmarkDotNet itself ends with 0 then.</summary>
    private static int Main(string[] arguments)
    {
        bool onlyTells = arguments.Any(argument => argument is "--list" or "--info" or "--version" or "--help" or "-h");
        var summaries = BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly)
            .Run(arguments.Length == 0 ? ["--filter", "*"] : arguments, CreateConfig())
            .ToArray();
        int results = summaries.Sum(summary => summary.Reports.Count(report => report.ResultStatistics is not null));
        int expected = summaries.Sum(summary => summary.BenchmarksCases.Length);
        if (onlyTells || (results > 0 && results == expected))
        {
            return 0;
        }

        Console.Error.WriteLine($"{results} of {expected} benchmarks gave a result.");
        return 1;
    }

    /// <summary>
    /// In-process, so that nothing has to be generated and built, and short: there are hundreds of workloads, and the labs
    /// are what repeats them in fresh processes.
    /// </summary>
    private static ManualConfig CreateConfig() => ManualConfig.CreateEmpty()
        .AddJob(Job.Default
            .WithToolchain(InProcessEmitToolchain.Instance)
            .WithIterationTime(TimeInterval.FromMilliseconds(50))
            .WithWarmupCount(3)
            .WithIterationCount(5))
        .AddDiagnoser(MemoryDiagnoser.Default)
        .AddColumnProvider(DefaultColumnProviders.Instance)
        .AddExporter(MarkdownExporter.GitHub)
        .AddLogger(ConsoleLogger.Default)
        .WithSummaryStyle(SummaryStyle.Default.WithMaxParameterColumnWidth(120));
}
