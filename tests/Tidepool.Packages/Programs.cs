using System.Diagnostics;

namespace Tidepool.Packages;

/// <summary>What a program said.</summary>
internal sealed record Ended(int Code, string Output, string Errors)
{
    /// <summary>The lines of its output.</summary>
    public string[] Lines => Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
}

/// <summary>Runs programs to their end.</summary>
internal static class Programs
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(12);

    /// <summary>Runs a program that must end with 0.</summary>
    public static async Task<Ended> RunAsync(
        string folder, IReadOnlyDictionary<string, string> variables, string program, params string[] arguments)
    {
        Ended ended = await TryAsync(folder, variables, program, arguments);
        Assert.True(ended.Code == 0, $"{program} {string.Join(' ', arguments)}: exit code {ended.Code}\n{ended.Output}\n{ended.Errors}");
        return ended;
    }

    /// <summary>Runs a program, whatever it ends with.</summary>
    public static async Task<Ended> TryAsync(
        string folder, IReadOnlyDictionary<string, string> variables, string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach ((string name, string value) in variables.Concat(Usual))
        {
            start.Environment[name] = value;
        }

        using Process process = Process.Start(start)!;
        process.StandardInput.Close();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            await process.WaitForExitAsync(patience.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail($"{program} {string.Join(' ', arguments)} did not end.\n{await output}\n{await errors}");
        }

        return new(process.ExitCode, await output, await errors);
    }

    private static readonly Dictionary<string, string> Usual = new()
    {
        ["DOTNET_NOLOGO"] = "1",
        ["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1",
        ["DOTNET_CLI_UI_LANGUAGE"] = "en",
        ["MSBUILDDISABLENODEREUSE"] = "1", // a node that stays would hold the pipes open
    };
}
