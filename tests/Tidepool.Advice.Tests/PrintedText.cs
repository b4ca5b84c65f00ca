using Spectre.Console;

namespace Tidepool.Advice.Tests;

/// <summary>What a terminal shows, as text without colours.</summary>
internal static class PrintedText
{
    /// <summary>Prints to a terminal of a width in columns; lines end with a line feed.</summary>
    public static string Of(int width, Action<IAnsiConsole> print)
    {
        var output = new StringWriter { NewLine = "\n" };
        IAnsiConsole console = AnsiConsole.Create(
            new AnsiConsoleSettings { Out = new AnsiConsoleOutput(output), Ansi = AnsiSupport.No, Interactive = InteractionSupport.No });
        console.Profile.Width = width;
        print(console);
        return output.ToString().ReplaceLineEndings("\n");
    }
}
