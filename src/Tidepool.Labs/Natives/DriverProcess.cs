using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Labs;

/// <summary>What a driver measured.</summary>
/// <param name="Nanoseconds">Wall time of the timed passes.</param>
/// <param name="Operations">Their operations.</param>
/// <param name="Renting">The part of the time that renting took; 0 when the workload does not tell.</param>
/// <param name="Returning">The part of the time that returning took; 0 when the workload does not tell.</param>
internal readonly record struct DriverTiming(double Nanoseconds, double Operations, double Renting, double Returning)
{
    /// <summary>Reads the answer to a command that measures.</summary>
    /// <exception cref="LabProcessException">It is no such answer.</exception>
    public static DriverTiming Parse(string answer)
    {
        string[] words = answer.Split(' ');
        double[] numbers = [
            .. words.Skip(1)
                .Select(word =>
                    double.TryParse(word, NumberStyles.Float, CultureInfo.InvariantCulture, out double number) ? number : double.NaN)
        ];
        return numbers is [> 0, > 0, >= 0, >= 0]
            ? new(numbers[0], numbers[1], numbers[2], numbers[3])
            : throw new LabProcessException($"Instead of four numbers the driver said: {answer}");
    }

    /// <summary>Per operation.</summary>
    public Sample ToSample() => Sample.OfTime(Nanoseconds / Operations) with
    {
        Renting = Renting > 0 ? Renting / Operations : null,
        Returning = Returning > 0 ? Returning / Operations : null,
    };
}

/// <summary>
/// A running driver of one subject; one command at a time. It is started by the first command and again after a failure.
/// Between commands it sleeps in a read.
/// </summary>
internal sealed class DriverProcess(NativeSubject subject) : IDisposable
{
    private static readonly TimeSpan LongestAnswer = TimeSpan.FromMinutes(2);
    private Process? _process;

    /// <summary>Starts the driver, unless it runs, and makes sure that the preloaded library is the one whose malloc it calls.</summary>
    /// <exception cref="LabProcessException">It does not start, or has another malloc.</exception>
    public void Start()
    {
        if (_process is not null)
        {
            return;
        }

        if (subject.Missing is { } missing)
        {
            throw new LabProcessException(missing);
        }

        _process = Process.Start(NativeBuild.ToStartInfo(NativeBuild.Program(subject.Driver)!, [subject.Face], subject.LibraryPath))
            ?? throw new LabProcessException("The driver did not start.");
        string greeting = Ask("hello");
        if (subject.LibraryPath is { } library && Path.GetFileName(greeting) != Path.GetFileName(library))
        {
            Dispose();
            throw new LabProcessException($"malloc came from {Path.GetFileName(greeting)}, not from {Path.GetFileName(library)}");
        }
    }

    /// <summary>Sends a command and returns the answer without its "ok".</summary>
    /// <exception cref="LabProcessException">The driver refused, ended or is silent.</exception>
    public string Ask(string command)
    {
        Start();
        try
        {
            _process!.StandardInput.Write(command + "\n");
            _process.StandardInput.Flush();
            var line = _process.StandardOutput.ReadLineAsync();
            if (!line.Wait(LongestAnswer))
            {
                throw new IOException("silent");
            }

            return Answered(line.Result ?? throw new IOException("ended"), command);
        }
        catch (IOException failure)
        {
            string how = failure.Message == "silent" ? $"did not answer '{command}' in time" : $"ended during '{command}'. {ReadErrors()}";
            Dispose();
            throw new LabProcessException($"The driver of {subject.Name} {how}".TrimEnd());
        }
    }

    /// <summary>Sends a command that measures.</summary>
    /// <exception cref="LabProcessException">The driver refused, ended or is silent.</exception>
    public DriverTiming Measure(string command) => DriverTiming.Parse("ok " + Ask(command));

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_process is { } process)
        {
            _process = null;
            try
            {
                process.Kill();
                process.WaitForExit();
            }
            catch (InvalidOperationException)
            {
                // It has ended by itself.
            }

            process.Dispose();
        }
    }

    private string Answered(string line, string command) =>
        line.StartsWith("ok ", StringComparison.Ordinal) ? line[3..]
        : throw new LabProcessException($"The driver of {subject.Name} answered '{command}' by: {line}");

    private string ReadErrors()
    {
        _process!.WaitForExit(TimeSpan.FromSeconds(2));
        return _process.HasExited ? $"Exit code {_process.ExitCode}. {_process.StandardError.ReadToEnd().Trim()}" : "";
    }
}

/// <summary>The drivers of this measuring process: one for each subject, however many cells it is measured in.</summary>
internal static class Drivers
{
    private static readonly Dictionary<string, DriverProcess> ByName = [];

    /// <summary>The driver of a subject.</summary>
    public static DriverProcess Of(NativeSubject subject)
    {
        lock (ByName)
        {
            if (!ByName.TryGetValue(subject.Name, out var driver))
            {
                driver = new DriverProcess(subject);
                ByName.Add(subject.Name, driver);
            }

            return driver;
        }
    }
}

/// <summary>A loop that a driver runs: what is timed, warmed and repeated is its business.</summary>
internal sealed class DriverLoop(DriverProcess driver, string command) : Loop
{
    /// <inheritdoc/>
    public override void Run(int operations) => driver.Start();

    /// <inheritdoc/>
    public override Sample Measure(int operations) => driver.Measure(command).ToSample();
}
