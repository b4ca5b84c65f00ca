using System.Diagnostics;
using System.Text;

namespace Tidepool.Labs;

/// <summary>A program that was not written for this lab, run under each malloc.</summary>
/// <param name="Name">What the table calls it.</param>
/// <param name="Bar">Its bar.</param>
/// <param name="Package">The packages that bring it.</param>
/// <param name="IsThere">Whether everything it needs is installed.</param>
/// <param name="Run">Runs it once in a folder of its own, with the library preloaded, and says what it used.</param>
internal sealed record PreloadProgram(
    string Name, Bar Bar, string Package, Func<bool> IsThere, Func<string, NativeSubject, IReadOnlyDictionary<string, double>> Run);

/// <summary>The programs of the preload rows.</summary>
internal static class PreloadPrograms
{
    private const string Python = "/usr/bin/python3";
    private const string BulkLoad = """
        create table item(id integer primary key, name text, price real, note text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
        insert into item select i, 'item ' || i, i * 0.25, hex(i * 2654435761) || ' ' || (i % 97) from n;
        create index by_note on item(note, name);
        select count(*), sum(length(note)) from item where note like '%7 9%';
        select substr(name, 1, 6), group_concat(id) from item group by 1 limit 5;
        """;

    /// <summary>All of them.</summary>
    public static IReadOnlyList<PreloadProgram> All { get; } =
    [
        new("python3, its own tests", Bars.ProgramPython, "python3 libpython3-testsuite", HasPythonTests, RunPython),
        new(
            "sqlite3, bulk load",
            Bars.ProgramSqlite,
            "sqlite3",
            () => IsOnPath("sqlite3"),
            (_, subject) => RunProgram(subject, "sqlite3", [":memory:", BulkLoad])),
        new(
            "redis-server, SET GET LPUSH",
            Bars.ProgramRedis,
            "redis-server redis-tools",
            () => IsOnPath("redis-server") && IsOnPath("redis-benchmark"),
            RunRedis),
        new("git gc, 1000 commits", Bars.ProgramGit, "git", () => IsOnPath("git"), RunGit),
        new("g++, a file of this library", Bars.ProgramCompiler, "g++", () => IsOnPath("g++"), RunCompiler),
    ];

    /// <summary>Whether a program is on the path.</summary>
    public static bool IsOnPath(string program) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
            .Any(folder => File.Exists(Path.Combine(folder, program)));

    /// <summary>The history of the git row as input of git fast-import: the same bytes every time.</summary>
    public static string GitHistory(int commits)
    {
        var stream = new StringBuilder();
        uint state = 1;
        string[] files = new string[40];
        for (int commit = 1; commit <= commits; commit++)
        {
            stream.Append(
                $"commit refs/heads/main\ncommitter Lab <lab@example.org> "
                    + $"{1_000_000_000 + (commit * 60)} +0000\ndata <<END\ncommit {commit}\nEND\n");
            for (int change = 0; change < 3; change++)
            {
                state = (state * 1664525) + 1013904223;
                int file = (int)(state >> 8) % files.Length;
                files[file] = $"line {commit} {state:x8} {state % 1009}\n{files[file]}";
                string text = files[file].Length > 6000 ? files[file][..6000] : files[file];
                stream.Append($"M 644 inline folder{file % 7}/file{file}.txt\ndata {text.Length}\n{text}\n");
            }
        }

        return stream.ToString();
    }

    private static bool HasPythonTests() =>
        File.Exists(Python) && Directory.GetDirectories("/usr/lib", "python3.*").Any(
            folder => File.Exists(Path.Combine(folder, "test", "test_dict.py")));

    private static IReadOnlyDictionary<string, double> RunPython(string folder, NativeSubject subject) => RunProgram(
        subject, Python, ["-m", "test", "--quiet", "--tempdir", folder, "test_dict", "test_list", "test_json", "test_string"]);

    private static IReadOnlyDictionary<string, double> RunCompiler(string folder, NativeSubject subject)
    {
        string native = Path.Combine(NativeBuild.Repository!, "native");
        return RunProgram(
            subject,
            "g++",
            [
                "-std=gnu++20", "-O2", "-ftls-model=initial-exec", "-fno-exceptions", "-fno-rtti",
                $"-I{native}/include", $"-I{native}/src",
                "-c", CompiledFile() ?? throw new LabProcessException("the sources of the library are not here"),
                "-o", Path.Combine(folder, "compiled.o")
            ]);
    }

    /// <summary>The largest source file of the library, so that the row has something to do.</summary>
    private static string? CompiledFile() => NativeBuild.Repository is { } repository
        && Path.Combine(repository, "native", "src") is var sources && Directory.Exists(sources)
        ? new DirectoryInfo(sources).EnumerateFiles("*.cpp", SearchOption.AllDirectories).OrderByDescending(file => file.Length)
            .ThenBy(file => file.Name, StringComparer.Ordinal).FirstOrDefault()?.FullName
        : null;

    private static IReadOnlyDictionary<string, double> RunGit(string folder, NativeSubject subject)
    {
        string repository = Path.Combine(folder, "history.git");
        Execute("git", ["init", "--quiet", "--bare", "--initial-branch=main", repository]);
        Execute("git", ["-C", repository, "fast-import", "--quiet"], GitHistory(1000));
        return RunProgram(
            subject,
            "git",
            ["-C", repository, "-c", "pack.threads=1", "-c", "gc.autoDetach=false", "gc", "--quiet", "--aggressive", "--prune=now"]);
    }

    private static IReadOnlyDictionary<string, double> RunRedis(string folder, NativeSubject subject)
    {
        string socket = Path.Combine(folder, "redis.sock");
        using var server =
            Process.Start(
                StartOf(subject, "redis-server",
                    ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder]))!;
        try
        {
            server.StandardInput.Close();
            var output = server.StandardOutput.ReadToEndAsync();
            long start = Stopwatch.GetTimestamp();
            while (!File.Exists(socket))
            {
                if (server.HasExited || Stopwatch.GetElapsedTime(start) > TimeSpan.FromSeconds(10))
                {
                    throw new LabProcessException("redis-server did not open its socket");
                }

                Thread.Sleep(5);
            }

            Execute(
                "redis-benchmark",
                ["-s", socket, "-t", "set,get,lpush", "-n", "150000", "-r", "20000", "-d", "200", "-c", "20", "-P", "16", "-q"]);
            Execute("redis-cli", ["-s", socket, "shutdown", "nosave"]);
            server.WaitForExit();
            return Succeeded(NativeTool.Parse(output.GetAwaiter().GetResult()), "redis-server");
        }
        finally
        {
            if (!server.HasExited)
            {
                server.Kill(entireProcessTree: true);
            }
        }
    }

    private static IReadOnlyDictionary<string, double> RunProgram(NativeSubject subject, string program, IReadOnlyList<string> arguments)
    {
        using var process = Process.Start(StartOf(subject, program, arguments))!;
        process.StandardInput.Close();
        var errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return Succeeded(NativeTool.Parse(output), program, errors.GetAwaiter().GetResult());
    }

    private static ProcessStartInfo StartOf(NativeSubject subject, string program, IReadOnlyList<string> arguments) =>
        NativeBuild.ToStartInfo(NativeBuild.Program("run")!, [subject.LibraryPath ?? "-", program, .. arguments]);

    private static IReadOnlyDictionary<string, double> Succeeded(
        IReadOnlyDictionary<string, double> used, string program, string errors = "") =>
        used["exit"] == 0 ? used : throw new LabProcessException(
            $"{Path.GetFileName(program)} ended with code {used["exit"]}. {Shorten(errors)}".TrimEnd());

    private static string Shorten(string text) => text.Trim() is { Length: > 300 } lengthy ? lengthy[^300..] : text.Trim();

    private static void Execute(string program, IReadOnlyList<string> arguments, string input = "")
    {
        using var process = Process.Start(NativeBuild.ToStartInfo(program, arguments))!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        process.StandardInput.Write(input);
        process.StandardInput.Close();
        process.WaitForExit();
        Task.WaitAll(output, errors);
        if (process.ExitCode != 0)
        {
            throw new LabProcessException($"{program} ended with code {process.ExitCode}. {Shorten(errors.Result)}");
        }
    }
}
