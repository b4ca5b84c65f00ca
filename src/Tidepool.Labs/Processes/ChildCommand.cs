using System.Diagnostics;
using System.Reflection;

namespace Tidepool.Labs;

/// <summary>The command that starts this program again as a child.</summary>
internal sealed record ChildCommand(string FileName, IReadOnlyList<string> LeadingArguments)
{
    /// <summary>Where its files are; null is the folder of temporary files.</summary>
    public string? Folder { get; init; }

    /// <summary>The command line of the running program: its own executable, or the .NET host with the program's assembly.</summary>
    public static ChildCommand OfThisProgram()
    {
        string host = Environment.ProcessPath ?? throw new InvalidOperationException("The path of this process is unknown.");
        bool isSharedHost = Path.GetFileNameWithoutExtension(host).Equals("dotnet", StringComparison.OrdinalIgnoreCase);
        return new(host, isSharedHost ? [Assembly.GetEntryAssembly()!.Location] : []);
    }

    /// <summary>The start of a child for one lab.</summary>
    public ProcessStartInfo ToStartInfo(string lab, LabMode mode) => ToStartInfo(ChildProgram.Argument, lab, mode.ToString());

    /// <summary>The start of this program with arguments.</summary>
    public ProcessStartInfo ToStartInfo(params IEnumerable<string> arguments)
    {
        var info = new ProcessStartInfo(FileName)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        foreach (string argument in (IEnumerable<string>)[.. LeadingArguments, .. arguments])
        {
            info.ArgumentList.Add(argument);
        }

        if (Folder is not null)
        {
            RunFolder.Tell(info.Environment, Folder);
        }

        return info;
    }
}
