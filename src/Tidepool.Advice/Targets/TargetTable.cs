using System.Globalization;
using System.Text.Json;
using Spectre.Console;

namespace Tidepool.Advice;

/// <summary>Shows the processes of <c>tidepool ps</c>.</summary>
internal static class TargetTable
{
    private const int WideEnough = 100;

    private static readonly JsonSerializerOptions Options = new(JsonSerializerDefaults.Web);

    /// <summary>Prints a table, or how to get a process into it.</summary>
    public static void Print(IAnsiConsole console, IReadOnlyList<TargetProcess> processes)
    {
        if (processes.Count == 0)
        {
            console.WriteLine("No .NET process that you may attach to is running. Start one, or run tidepool as its user.");
            return;
        }

        bool isWide = console.Profile.Width >= WideEnough;
        var table = new Table().Border(TableBorder.Simple);
        table.AddColumn(new TableColumn("PID").RightAligned().NoWrap());
        table.AddColumn(new TableColumn("program").NoWrap());
        table.AddColumn(new TableColumn(".NET").NoWrap());
        table.AddColumn(new TableColumn("Tidepool").NoWrap());
        table.AddColumn(new TableColumn("memory").RightAligned().NoWrap());
        table.AddColumn(new TableColumn("CPU s").RightAligned().NoWrap());
        if (isWide)
        {
            table.AddColumn(new TableColumn("command"));
        }

        foreach (var process in processes)
        {
            string[] cells =
            [
                process.Id.ToString(CultureInfo.InvariantCulture), process.Name, process.Runtime.Length == 0 ? "?" : process.Runtime,
                process.UsesTidepool ? "yes" : "-", Quantity.Bytes(process.WorkingSet),
                process.ProcessorTime.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture), process.CommandLine,
            ];
            table.AddRow([.. cells.Take(isWide ? 7 : 6).Select(static cell => new Text(cell))]);
        }

        console.Write(table);
    }

    /// <summary>The processes as one JSON array.</summary>
    public static string ToJson(IReadOnlyList<TargetProcess> processes) => JsonSerializer.Serialize(
        processes.Select(static process => new
        {
            Pid = process.Id,
            process.Name,
            process.CommandLine,
            process.Runtime,
            process.UsesTidepool,
            process.WorkingSet,
            ProcessorSeconds = process.ProcessorTime.TotalSeconds,
        }),
        Options);
}
