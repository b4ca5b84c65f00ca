using Spectre.Console;
using Spectre.Console.Rendering;

namespace Tidepool.Advice;

/// <summary>How <c>tidepool watch</c> runs.</summary>
internal sealed record WatchOptions
{
    /// <summary>A line of JSON a second instead of a screen.</summary>
    public bool Json { get; init; }

    /// <summary>Whether a window of <c>ArrayPool</c> events is opened at the start.</summary>
    public bool ArrayPool { get; init; }

    /// <summary>When to stop; null until the user or the process does.</summary>
    public double? Seconds { get; init; }
}

/// <summary>Shows frames of a process until the user quits, the time is over or the process ends.</summary>
internal sealed class WatchScreen(TargetProcess target, WatchSession session, WatchOptions options, CancellationToken stop)
{
    private const int FrameMilliseconds = 1000;
    private const int KeyMilliseconds = 50;

    private WatchFrame _frame = new();
    private WatchView _view = new();

    /// <summary>Runs.</summary>
    /// <param name="console">Where to draw.</param>
    /// <param name="output">Where lines of JSON go.</param>
    public async Task RunAsync(IAnsiConsole console, TextWriter output)
    {
        if (options.ArrayPool)
        {
            session.OpenArrayPool();
        }

        bool isLive = !options.Json && console.Profile.Capabilities is { Interactive: true, Ansi: true } && !Console.IsInputRedirected;
        if (isLive)
        {
            await RunLive(console);
        }
        else
        {
            await RunPlain(frame => Write(frame, console, output));
        }

        if (session.Ended.IsCompleted && !options.Json)
        {
            console.WriteLine($"Process {target.Id} ({target.Name}) has ended.");
        }
    }

    private void Write(WatchFrame frame, IAnsiConsole console, TextWriter output)
    {
        if (options.Json)
        {
            output.WriteLine(WatchJson.Line(frame));
            output.Flush();
        }
        else
        {
            console.Write(WatchTables.Draw(target, frame, _view, console.Profile.Width, isLive: false));
            console.WriteLine();
        }
    }

    private async Task RunPlain(Action<WatchFrame> write)
    {
        while (await WaitAsync(FrameMilliseconds))
        {
            write(_frame = session.Take());
        }
    }

    private async Task RunLive(IAnsiConsole console)
    {
        console.Cursor.Hide();
        try
        {
            await console.Live(new Text("")).Overflow(VerticalOverflow.Crop).AutoClear(false).StartAsync(async screen =>
            {
                int sinceFrame = FrameMilliseconds;
                bool isChanged = true;
                do
                {
                    if (sinceFrame >= FrameMilliseconds)
                    {
                        _frame = session.Take();
                        (sinceFrame, isChanged) = (0, true);
                    }

                    if (isChanged)
                    {
                        screen.UpdateTarget(Draw(console));
                        screen.Refresh();
                    }

                    sinceFrame += KeyMilliseconds;
                    isChanged = false;
                    while (Console.KeyAvailable)
                    {
                        if (!Press(Console.ReadKey(intercept: true)))
                        {
                            return;
                        }

                        isChanged = true;
                    }
                }
                while (await WaitAsync(KeyMilliseconds));
            });
        }
        finally
        {
            console.Cursor.Show();
        }
    }

    private IRenderable Draw(IAnsiConsole console)
    {
        var shown = session.IsArrayPoolOpen
            ? _frame with { Note = "ArrayPool: 2 s of baseline, then 5 s in which every rent and return of the process is slower." }
            : _frame;
        return WatchTables.Draw(target, shown, _view, console.Profile.Width, isLive: true);
    }

    /// <summary>What a key does.</summary>
    /// <returns>False to quit.</returns>
    private bool Press(ConsoleKeyInfo key)
    {
        if (!_view.IsTyping)
        {
            if (key.KeyChar == 'q')
            {
                return false;
            }

            if (key.KeyChar == 'a')
            {
                session.OpenArrayPool();
            }
        }

        _view = _view.Press(key);
        return true;
    }

    /// <summary>Waits.</summary>
    /// <returns>False when the watch is over.</returns>
    private async Task<bool> WaitAsync(int milliseconds)
    {
        await Task.WhenAny(session.Ended, Task.Delay(milliseconds, stop));
        return !stop.IsCancellationRequested && !session.Ended.IsCompleted && !(_frame.Seconds >= options.Seconds);
    }
}
