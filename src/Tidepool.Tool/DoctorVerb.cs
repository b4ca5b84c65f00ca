using System.CommandLine;
using System.ComponentModel;
using System.Diagnostics;
using Spectre.Console;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool doctor</c>: what is installed, what is missing, and the command that installs it.</summary>
internal static class DoctorVerb
{
    /// <summary>What the user types.</summary>
    public const string Name = "doctor";

    private const int OldestSdk = 10;
    private const int WidestCommand = 76;

    private static readonly (string Need, string Title)[] Sections =
    [
        (NeededProgram.Required, "Required"),
        ("native", "C++ library"),
        ("labs", "Labs: rows without their program are NOT RUN"),
        ("tests", "Tests: those without their program are skipped"),
    ];

    /// <summary>What the help says below the options.</summary>
    public static string Examples { get; } =
        """
        Looks at this machine and changes nothing. Prints the command that installs what is missing, with the names of Debian
        and Ubuntu.

        Example:
          tidepool doctor

        Exit codes: 0 everything required is there, 3 something required is missing.
        """;

    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command(Name, "Shows what is installed, what is missing, and the command that installs it.");
        verb.SetAction(_ => Run(ConsoleReport.CreateConsole(), NeededProgram.ReadAll()));
        return verb;
    }

    private static int Run(IAnsiConsole console, NeededProgram[] programs)
    {
        string? sdk = FindSdk();
        NeededProgram[] missing = [.. programs.Where(program => program.Need == NeededProgram.Required ? sdk is null : !program.IsThere())];
        int width = programs.Max(static program => program.Name.Length);
        console.WriteLine($"tidepool {BuildVersion.Text}");
        foreach (var (need, title) in Sections)
        {
            console.WriteLine();
            console.MarkupLineInterpolated($"[bold]{title}[/]");
            foreach (var program in programs.Where(program => program.Need == need))
            {
                string state = missing.Contains(program) ? "[yellow]missing[/]" : "[green]ok[/]     ";
                string name = program.Need == NeededProgram.Required ? $".NET SDK {sdk}".TrimEnd() : program.Name;
                console.MarkupLine($"  {state}  {name.PadRight(width).EscapeMarkup()}  {program.Purpose.EscapeMarkup()}");
            }
        }

        console.WriteLine();
        PrintOutcome(console, missing);
        return sdk is null ? ExitRule.EnvironmentLacks : ExitRule.Ok;
    }

    private static void PrintOutcome(IAnsiConsole console, NeededProgram[] missing)
    {
        NeededProgram[] optional = [.. missing.Where(static program => program.Need != NeededProgram.Required)];
        if (optional.Length < missing.Length)
        {
            console.MarkupLine($"[red]The .NET SDK {OldestSdk} is missing.[/] Install it from");
            console.WriteLine("  https://dotnet.microsoft.com/download\nor with\n  apt-get install dotnet-sdk-10.0");
        }
        else
        {
            console.WriteLine(optional.Length == 0 ? "Everything is here." : "Everything required is here.");
        }

        if (optional.Length > 0)
        {
            console.WriteLine($"{optional.Length} optional {(optional.Length == 1 ? "program is" : "programs are")} missing:");
            foreach (string line in CommandOf(optional))
            {
                console.WriteLine(line);
            }
        }
    }

    /// <summary>The command, in lines that a terminal of 80 columns does not break and a shell reads as one.</summary>
    private static IEnumerable<string> CommandOf(NeededProgram[] missing)
    {
        string line = "  apt-get install";
        foreach (string package in missing.Select(static program => program.Package).Distinct())
        {
            if (line.Length + package.Length > WidestCommand)
            {
                yield return line + " \\";
                line = "   ";
            }

            line += $" {package}";
        }

        yield return line;
    }

    /// <summary>The newest SDK that is installed; null when none is new enough.</summary>
    private static string? FindSdk()
    {
        if (NeededProgram.FindCommand("dotnet") is not { } dotnet)
        {
            return null;
        }

        try
        {
            using var process = Process.Start(new ProcessStartInfo(dotnet, ["--list-sdks"])
            {
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            })!;
            var errors = process.StandardError.ReadToEndAsync();
            string[] sdks = [.. process.StandardOutput.ReadToEnd().Split('\n').Select(static line => line.Split(' ')[0])];
            process.WaitForExit();
            errors.Wait();
            return sdks.LastOrDefault(static sdk => int.TryParse(sdk.Split('.')[0], out int major) && major >= OldestSdk);
        }
        catch (Win32Exception)
        {
            return null; // a file of that name that is no program
        }
    }
}
