using System.CommandLine;
using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary><c>tidepool docs</c>: for developers of this repository, so it is not listed in the help.</summary>
internal static class DocsVerb
{
    /// <summary>The verb for the parser.</summary>
    public static Command Create()
    {
        var verb = new Command("docs", "Makes the tables and the plot of the docs again from docs/results/.") { Hidden = true };
        verb.SetAction(_ => Run());
        return verb;
    }

    private static int Run()
    {
        if (FindRepository() is not { } repository)
        {
            Console.Error.WriteLine("tidepool: 'docs' works inside a clone of the repository only.");
            return ExitRule.BadUsage;
        }

        foreach (var (path, text) in GeneratedDocs.Render(repository).ToArray())
        {
            if (!File.Exists(path) || File.ReadAllText(path) != text)
            {
                File.WriteAllText(path, text);
                Console.WriteLine($"changed {Path.GetRelativePath(repository, path)}");
            }
        }

        return ExitRule.Ok;
    }

    private static string? FindRepository()
    {
        for (var folder = new DirectoryInfo(Environment.CurrentDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
            {
                return folder.FullName;
            }
        }

        return null;
    }
}
