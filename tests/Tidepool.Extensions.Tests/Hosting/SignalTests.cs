using System.Diagnostics;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>A program that is told to end finishes what it does, and then its pools end.</summary>
[Trait("Category", "Environment")]
public sealed class SignalTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(4);

    [UnixFact]
    public async Task A_request_in_flight_at_a_termination_finishes_on_its_resource()
    {
        using Process program = Process.Start(new ProcessStartInfo(
            Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet",
            [typeof(SignalledHost).Assembly.Location, SignalledHost.Argument])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        try
        {
            await ExpectAsync(program, "in flight");
            using (Process signal = Process.Start("kill", ["-TERM", $"{program.Id}"]))
            {
                await signal.WaitForExitAsync().WaitAsync(Patience);
            }

            await ExpectAsync(program, "stopping");
            await program.StandardInput.WriteLineAsync();
            await ExpectAsync(program, "answered, disposed: False");
            await ExpectAsync(program, "stopped");
            await ExpectAsync(program, "destroyed 1"); // the idle one: the pool shuts down, and waits for what is still out
            await program.StandardInput.WriteLineAsync();
            await ExpectAsync(program, "worked on, disposed: False");
            await ExpectAsync(program, "destroyed 2");
            await ExpectAsync(program, "ended");
            await program.WaitForExitAsync().WaitAsync(Patience);
            Assert.Equal(0, program.ExitCode);
        }
        finally
        {
            program.Kill();
        }
    }

    private static async Task ExpectAsync(Process program, string line) =>
        Assert.Equal(line, await program.StandardOutput.ReadLineAsync().WaitAsync(Patience));

    private sealed class UnixFactAttribute : FactAttribute
    {
        public UnixFactAttribute() => Skip = OperatingSystem.IsWindows() ? "Windows has no signal that asks a program to end" : null;
    }
}
