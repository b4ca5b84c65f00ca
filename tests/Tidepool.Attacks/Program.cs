using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Attacks;

/// <summary>
/// <c>Tidepool.Attacks NAME|all [seconds] [threads]</c>: runs attacks, each in a process of its own, and says for each promise whether it
/// held. <c>Tidepool.Attacks list</c>: their names. Exit codes: 0 all held, 1 one was broken, 2 wrong usage, 3 none was broken but the
/// machine lacks what one of them needs.
/// </summary>
internal static class Program
{
    /// <summary>The exit code of an attack that cannot be started here.</summary>
    internal const int NotRun = 3;

    private const string Inside = "--inside";

    public static int Main(string[] args)
    {
        bool isInside = args is [.., Inside];
        if (isInside)
        {
            args = args[..^1];
        }

        if (args is ["list"])
        {
            Console.WriteLine(string.Join('\n', Attack.All.Keys));
            return 0;
        }

        if (args is not [string name, ..] || (name != "all" && !Attack.All.ContainsKey(name)) || args.Length > 3)
        {
            Console.Error.WriteLine(
                $"Tidepool.Attacks NAME|all [seconds] [threads], or list, with a name of: {string.Join(", ", Attack.All.Keys)}");
            return 2;
        }

        int seconds = args.Length > 1 ? int.Parse(args[1], CultureInfo.InvariantCulture) : 10;
        int threads = args.Length > 2 ? int.Parse(args[2], CultureInfo.InvariantCulture) : 2;
        if (isInside)
        {
            return Run(Attack.All[name], seconds, threads);
        }

        IEnumerable<Attack> attacks = name == "all" ? Attack.All.Values : [Attack.All[name]];
        int[] codes = [.. attacks.Select(attack => RunInAChild(attack, seconds, threads, Console.WriteLine))];
        return Array.TrueForAll(codes, static code => code is 0 or NotRun) ? codes.Max() : 1;
    }

    /// <summary>Runs an attack in a process of its own, which it may take down.</summary>
    /// <returns>The exit code of the process: 0 when the promise held, <see cref="NotRun"/> when it could not be started.</returns>
    public static int RunInAChild(Attack attack, int seconds, int threads, Action<string> say)
    {
        string program = Environment.ProcessPath!;
        bool isHosted = !Path.GetFileName(program).StartsWith("Tidepool.Attacks", StringComparison.Ordinal);
        string[] runs = isHosted ? ["dotnet", "exec", Path.Combine(AppContext.BaseDirectory, "Tidepool.Attacks.dll")] : [program];
        string[] command = [.. runs, attack.Name, $"{seconds}", $"{threads}", Inside];
        string line = string.Join(' ', command.Select(static part => $"'{part}'"));
        string refused = $"{{ echo '{attack.Name}: not run, this shell refuses: {attack.Before}'; exit {NotRun}; }}";
        ProcessStartInfo start = new(
            "/bin/sh", ["-c", attack.Before is null ? $"exec {line}" : $"{attack.Before} || {refused}; exec {line}"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        using Process process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(TimeSpan.FromSeconds(seconds) + TimeSpan.FromMinutes(5)))
        {
            process.Kill(entireProcessTree: true);
            say($"{attack.Name}: did not end");
            return 1;
        }

        say(output.GetAwaiter().GetResult().TrimEnd());
        if (process.ExitCode is not (0 or 1 or NotRun))
        {
            string[] said = errors.GetAwaiter().GetResult().Split('\n');
            say($"{attack.Name}: the process ended with code {process.ExitCode}\n{string.Join('\n', said[..Math.Min(8, said.Length)])}");
        }

        return process.ExitCode;
    }

    internal static int Run(Attack attack, int seconds, int threads)
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        Console.WriteLine($"{attack.Name}, {seconds} s, {threads} threads, seed {seed}: {attack.Promise}");
        attack.Run(TimeSpan.FromSeconds(seconds), threads, seed);
        foreach ((string what, long count) in attack.Broken.OrderByDescending(static pair => pair.Value).Take(10))
        {
            Console.WriteLine($"  BROKEN {count} x {what}");
        }

        Console.WriteLine($"  {attack.Rounds} rounds: {(attack.Broken.Count == 0 ? "held" : "BROKEN")}");
        return attack.Broken.Count == 0 ? 0 : 1;
    }
}
