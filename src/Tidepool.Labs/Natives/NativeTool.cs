using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>Runs a native program that prints lines of a name and a number.</summary>
internal static class NativeTool
{
    /// <summary>The last line that a program prints before it only waits.</summary>
    private const string LastBeforeWaiting = "freed_MiB ";

    /// <summary>Runs it to its end.</summary>
    /// <exception cref="LabProcessException">It failed, or printed something else.</exception>
    /// <exception cref="OperationCanceledException">The run was stopped, and the program with it.</exception>
    public static IReadOnlyDictionary<string, double> Run(
        string program, IEnumerable<string> arguments, ProbeSite site, string? preload = null, string? setting = null) =>
        Run(program, arguments, site, Parse, preload, setting);

    /// <summary>Runs a program whose output is read in another way.</summary>
    /// <exception cref="LabProcessException">It failed, or printed something else.</exception>
    /// <exception cref="OperationCanceledException">The run was stopped, and the program with it.</exception>
    public static IReadOnlyDictionary<string, double> Run(
        string program,
        IEnumerable<string> arguments,
        ProbeSite site,
        Func<string, IReadOnlyDictionary<string, double>> parse,
        string? preload = null,
        string? setting = null)
    {
        using var process = Process.Start(NativeBuild.ToStartInfo(program, arguments, preload, setting))
            ?? throw new LabProcessException($"{Path.GetFileName(program)} did not start.");
        using var ending = site.Stop.Register(() => Kill(process));
        process.StandardInput.Close();
        var errors = process.StandardError.ReadToEndAsync(CancellationToken.None);
        var output = new StringBuilder();
        while (process.StandardOutput.ReadLine() is { } line)
        {
            output.Append(line).Append('\n');
            if (line.StartsWith(LastBeforeWaiting, StringComparison.Ordinal))
            {
                site.Quiet();
            }
        }

        process.WaitForExit();
        site.Stop.ThrowIfCancellationRequested();
        return process.ExitCode == 0
            ? parse(output.ToString())
            : throw new LabProcessException(
                $"{Path.GetFileName(program)} ended with code {process.ExitCode}. {errors.GetAwaiter().GetResult().Trim()}".TrimEnd());
    }

    /// <summary>Reads the lines.</summary>
    /// <exception cref="LabProcessException">A line is not a name and a number.</exception>
    public static IReadOnlyDictionary<string, double> Parse(string output)
    {
        var numbers = new Dictionary<string, double>();
        foreach (string line in output.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            string[] parts = line.Split(' ');
            if (parts.Length != 2 || !double.TryParse(parts[1], NumberStyles.Float, CultureInfo.InvariantCulture, out double number))
            {
                throw new LabProcessException($"Instead of a name and a number the program printed: {line}");
            }

            numbers[parts[0]] = number;
        }

        return numbers.Count > 0 ? numbers : throw new LabProcessException("The program printed nothing.");
    }

    private static void Kill(Process process)
    {
        try
        {
            process.Kill(entireProcessTree: true);
        }
        catch (InvalidOperationException)
        {
            // It has ended by itself.
        }
    }
}
