using System.Globalization;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace Tidepool.Advice;

/// <summary>Draws a frame as lines and tables.</summary>
internal static class WatchTables
{
    private const int Wide = 116;

    /// <summary>The whole screen.</summary>
    /// <param name="target">The process.</param>
    /// <param name="frame">Its last second.</param>
    /// <param name="view">What the user wants to see.</param>
    /// <param name="width">The width of the terminal, in letters.</param>
    /// <param name="isLive">Whether keys work.</param>
    public static IRenderable Draw(TargetProcess target, WatchFrame frame, WatchView view, int width, bool isLive)
    {
        List<IRenderable> parts = [new Text(Title(target, frame)), new Text(Memory(frame)), new Text(Collections(frame))];
        if (isLive)
        {
            parts.Add(new Text(Keys(view), new Style(decoration: Decoration.Dim)));
        }

        if (frame.Note is { } note)
        {
            parts.Add(new Text(note, new Style(Color.Yellow)));
        }

        if (frame.LostEvents > 0)
        {
            parts.Add(new Text($"{frame.LostEvents} events were lost: the numbers are too low.", new Style(Color.Yellow)));
        }

        parts.Add(Pools(frame, view, width));
        if (view.Apply(frame.Metered) is { Count: > 0 } metered)
        {
            parts.Add(Metered(metered));
        }

        if (frame.ArrayPool is { } window)
        {
            parts.AddRange(ArrayPoolLines(window).Select(static line => new Text(line)));
        }

        return new Rows(parts);
    }

    private static string Title(TargetProcess target, WatchFrame frame)
    {
        string runtime = target.Runtime.Length == 0 ? "" : $" · .NET {target.Runtime}";
        return $"{target.Name} · {target.Id}{runtime} · watched for {Quantity.Time(Math.Floor(frame.Seconds) * 1000)}";
    }

    private static string Memory(WatchFrame frame) =>
        $"allocates {OrDash(frame.AllocatedPerSecond, Quantity.Bytes)}/s · heap {OrDash(frame.HeapBytes, Quantity.Bytes)} · memory "
            + $"{OrDash(frame.WorkingSet, Quantity.Bytes)} · {OrDash(frame.Processors, Processors)} processors";

    private static string Collections(WatchFrame frame)
    {
        var reasons = frame.Collections.Select(
            static c => $"gen{c.Generation} {c.Reason} {Quantity.Count(c.PerSecond)}/s");
        string list = frame.Collections.Count == 0 ? "none" : string.Join(", ", reasons);
        string paused = $"paused {Quantity.Time(frame.PauseMilliseconds)}/s, longest {Quantity.Time(frame.LongestPauseMilliseconds)}";
        return $"collections: {list} · {paused}";
    }

    private static string Keys(WatchView view)
    {
        if (view.IsTyping)
        {
            return $"filter: {view.Filter}_   Enter keeps it, Esc clears it";
        }

        string filter = view.Filter.Length == 0 ? "" : $" ({view.Filter})";
        return $"q quit · s sort ({view.Order}) · f filter{filter} · a ArrayPool for 5 s";
    }

    private static IRenderable Pools(WatchFrame frame, WatchView view, int width)
    {
        if (frame.Pools.Count == 0)
        {
            return new Text("\nNo pool of Tidepool has answered.");
        }

        bool isWide = width >= Wide;
        var table = NewTable("pool of Tidepool");
        foreach (string column in PoolColumns(isWide))
        {
            table.AddColumn(NewColumn(column));
        }

        foreach (var pool in view.Apply(frame.Pools))
        {
            table.AddRow([.. PoolCells(pool, isWide).Select(static cell => new Text(cell))]);
        }

        var sites = view.Apply(frame.Pools).Where(static pool => pool.OldestSite is not null)
            .Select(static pool => new Text($"oldest lease of {pool.Name}: {pool.OldestSite!.Split('\n')[0]}"));
        return new Rows([table, .. sites]);
    }

    private static string[] PoolColumns(bool isWide) => isWide
        ? ["kind", "rented/s", "hits", "idle", "leased", "idle B", "misuse", "failed", "waiting", "oldest"]
        : ["rented/s", "hits", "idle", "leased", "misuse", "wait", "oldest"];

    private static string[] PoolCells(PoolRow pool, bool isWide)
    {
        string rented = OrDash(pool.RentedPerSecond, Quantity.Count);
        string hits = OrDash(pool.HitRate, Quantity.Percent);
        string leased = pool.MaxSize is { } max ? $"{pool.Leased}/{max}" : $"{pool.Leased}";
        string waiting = pool.Waiting is { } count ? $"{count}" : "-";
        string oldest = pool.OldestMilliseconds is { } age ? Quantity.Time(age) : "-";
        return isWide
            ?
            [
                pool.Name, pool.Kind, rented, hits, $"{pool.Idle}", leased, OrDash(pool.BytesIdle, Quantity.Bytes),
                $"{pool.Misuses}", $"{pool.Failed}", waiting, oldest,
            ]
            : [pool.Name, rented, hits, $"{pool.Idle}", leased, $"{pool.Misuses}", waiting, oldest];
    }

    private static Table Metered(IReadOnlyList<MeteredRow> rows)
    {
        var table = NewTable("pool of the platform or a provider");
        foreach (string column in (string[])["uses/s", "idle", "used", "max", "waiting"])
        {
            table.AddColumn(NewColumn(column));
        }

        foreach (var row in rows)
        {
            Func<double, string> write = row.Unit == "By" ? Quantity.Bytes : Quantity.Count;
            table.AddRow(
                new Text(row.Name), new Text(OrDash(row.PerSecond, write)), new Text(OrDash(row.Idle, write)),
                new Text(OrDash(row.Used, write)), new Text(OrDash(row.Max, write)), new Text(OrDash(row.Waiting, write)));
        }

        return table;
    }

    private static IEnumerable<string> ArrayPoolLines(ArrayPoolWindow window)
    {
        yield return $"ArrayPool, {window.Seconds:0.0} s: {Quantity.Count(window.RentedPerSecond)} rented/s, "
            + $"{Quantity.Count(window.ReturnedPerSecond)} returned/s, {Quantity.Count(window.AllocatedPerSecond)} allocated/s, "
            + $"{Quantity.Count(window.DroppedPerSecond)} dropped/s, {window.Pools} pools";
        if (window.Lengths.Count > 0)
        {
            var lengths = window.Lengths.Select(static length => $"{length.Length} × {Quantity.Count(length.PerSecond)}/s");
            yield return $"  array lengths in elements (what was asked for is not known): {string.Join(", ", lengths)}";
        }

        string lost = window.LostEvents > 0 ? $"; {window.LostEvents} events were lost" : "";
        yield return $"  cost: {OrDash(window.ProcessorsBefore, Processors)} processors before, "
            + $"{OrDash(window.ProcessorsWithin, Processors)} within{lost}";
    }

    private static string Processors(double count) => count.ToString("0.00", CultureInfo.InvariantCulture);

    private static TableColumn NewColumn(string name) => new TableColumn(name).RightAligned().NoWrap().PadLeft(1).PadRight(0);

    private static Table NewTable(string first) =>
        new Table().Border(TableBorder.Simple).AddColumn(new TableColumn(first).NoWrap());

    private static string OrDash(double? value, Func<double, string> write) => value is { } known ? write(known) : "-";
}
