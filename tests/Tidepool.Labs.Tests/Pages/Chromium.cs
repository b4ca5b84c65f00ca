using System.Diagnostics;
using System.Globalization;
using System.Net.WebSockets;
using System.Text;
using System.Text.Json.Nodes;

namespace Tidepool.Labs.Tests.Pages;

/// <summary>
/// One tab of a browser without a window, driven by the DevTools protocol. The client that the browser's authors recommend brings three
/// quarters of a gigabyte along; the handful of commands that a page's test needs are these.
/// </summary>
internal sealed class Chromium : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private readonly Process _process;
    private readonly string _profile;
    private readonly ClientWebSocket _socket = new();
    private readonly Dictionary<int, TaskCompletionSource<JsonObject>> _asked = [];
    private readonly List<JsonObject> _events = [];
    private readonly Lock _gate = new();
    private string? _session;
    private int _last;

    private Chromium(Process process, string profile)
    {
        _process = process;
        _profile = profile;
    }

    /// <summary>What to say where there is no browser, or null.</summary>
    public static string? Missing => PreloadPrograms.IsOnPath("chromium") ? null : "Needs chromium: apt-get install chromium";

    public static async Task<Chromium> StartAsync()
    {
        string profile = Directory.CreateTempSubdirectory("tidepool-chromium-").FullName;
        var process = Process.Start(new ProcessStartInfo(
            "chromium",
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                "--disable-background-networking", "--remote-debugging-port=0", $"--user-data-dir={profile}", "about:blank",
            ])
        {
            RedirectStandardError = true,
        })!;
        var browser = new Chromium(process, profile);
        using var patience = new CancellationTokenSource(Patience);
        const string Begin = "DevTools listening on ";
        string? line;
        do
        {
            line = await process.StandardError.ReadLineAsync(patience.Token);
        }
        while (line?.StartsWith(Begin, StringComparison.Ordinal) == false);
        _ = process.StandardError.ReadToEndAsync(CancellationToken.None); // a full pipe would stop it
        browser._socket.Options.Proxy = null;
        await browser._socket.ConnectAsync(
            new Uri(line?[Begin.Length..] ?? throw new InvalidOperationException("chromium ended at once.")), patience.Token);
        _ = browser.ListenAsync();
        var target = await browser.AskAsync("Target.createTarget", new() { ["url"] = "about:blank" });
        var attached = await browser.AskAsync(
            "Target.attachToTarget", new() { ["targetId"] = (string)target["targetId"]!, ["flatten"] = true });
        browser._session = (string)attached["sessionId"]!;
        foreach (string domain in (string[])["Page", "Runtime", "Log", "Network"])
        {
            await browser.AskAsync($"{domain}.enable");
        }

        return browser;
    }

    /// <summary>Shows a file at a size in a colour scheme, and waits until it is loaded and drawn.</summary>
    public async Task OpenAsync(string file, int width, int height, string scheme)
    {
        await AskAsync("Emulation.setDeviceMetricsOverride", new()
        {
            ["width"] = width,
            ["height"] = height,
            ["deviceScaleFactor"] = 1,
            ["mobile"] = width < 600,
        });
        await EmulateAsync("screen", scheme);
        lock (_gate)
        {
            _events.Clear();
        }

        await AskAsync("Page.navigate", new() { ["url"] = new Uri(file).AbsoluteUri });
        await WaitForAsync("document.readyState === 'complete' && document.fonts.status === 'loaded'");
        await DrawAsync();
    }

    /// <summary>Sets the medium and the colour scheme.</summary>
    public Task EmulateAsync(string medium, string scheme) => AskAsync("Emulation.setEmulatedMedia", new()
    {
        ["media"] = medium,
        ["features"] = new JsonArray(new JsonObject { ["name"] = "prefers-color-scheme", ["value"] = scheme }),
    });

    /// <summary>Waits for two frames, so that what watches sizes has drawn.</summary>
    public async Task DrawAsync() =>
        await EvaluateAsync("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");

    public async Task WaitForAsync(string condition)
    {
        long start = Stopwatch.GetTimestamp();
        while (!(await EvaluateAsync(condition)).GetValue<bool>())
        {
            Assert.True(Stopwatch.GetElapsedTime(start) < Patience, $"Never true: {condition}");
            await Task.Delay(20);
        }
    }

    /// <summary>The value of an expression in the page.</summary>
    public async Task<JsonNode> EvaluateAsync(string expression)
    {
        var answer = await AskAsync(
            "Runtime.evaluate", new() { ["expression"] = expression, ["returnByValue"] = true, ["awaitPromise"] = true });
        Assert.Null(answer["exceptionDetails"]);
        return answer["result"]!["value"]!;
    }

    /// <summary>A part of the page as a picture, from <paramref name="top"/> down.</summary>
    public async Task<byte[]> PictureAsync(int width, int height, double top = 0)
    {
        var answer = await AskAsync("Page.captureScreenshot", new()
        {
            ["captureBeyondViewport"] = true,
            ["clip"] = new JsonObject { ["x"] = 0, ["y"] = top, ["width"] = width, ["height"] = height, ["scale"] = 1 },
        });
        return Convert.FromBase64String((string)answer["data"]!);
    }

    /// <summary>The page on A4 paper, as a PDF.</summary>
    public async Task<byte[]> PrintAsync()
    {
        var answer = await AskAsync("Page.printToPDF", new()
        {
            ["paperWidth"] = 8.27,
            ["paperHeight"] = 11.69,
            ["printBackground"] = true,
            ["preferCSSPageSize"] = false,
        });
        return Convert.FromBase64String((string)answer["data"]!);
    }

    /// <summary>What the page has written on the console or thrown since it was opened.</summary>
    public IReadOnlyList<string> Complaints => Events("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded");

    /// <summary>What the page has asked for since it was opened.</summary>
    public IReadOnlyList<string> Requests =>
        [.. Events("Network.requestWillBeSent").Select(text => (string)JsonNode.Parse(text)!["request"]!["url"]!)];

    public async ValueTask DisposeAsync()
    {
        try
        {
            await AskAsync("Browser.close", ofBrowser: true);
        }
        catch (Exception failure) when (failure is WebSocketException or OperationCanceledException or TimeoutException)
        {
            _process.Kill(entireProcessTree: true); // it did not answer
        }

        using var patience = new CancellationTokenSource(Patience);
        await _process.WaitForExitAsync(patience.Token);
        _process.Dispose();
        _socket.Dispose();
        await DeleteProfileAsync();
    }

    private async Task DeleteProfileAsync()
    {
        // Helpers of the browser may still write for a moment.
        for (int attempt = 1; Directory.Exists(_profile); attempt++)
        {
            try
            {
                Directory.Delete(_profile, recursive: true);
            }
            catch (IOException) when (attempt < 100)
            {
                await Task.Delay(50);
            }
        }
    }

    private IReadOnlyList<string> Events(params string[] methods)
    {
        lock (_gate)
        {
            return [.. _events.Where(seen => methods.Contains((string)seen["method"]!)).Select(seen => seen["params"]!.ToJsonString())];
        }
    }

    private async Task<JsonObject> AskAsync(string method, JsonObject? parameters = null, bool ofBrowser = false)
    {
        int id = Interlocked.Increment(ref _last);
        var reply = new TaskCompletionSource<JsonObject>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            _asked.Add(id, reply);
        }

        var message = new JsonObject { ["id"] = id, ["method"] = method, ["params"] = parameters ?? new JsonObject() };
        if (_session is not null && !ofBrowser)
        {
            message["sessionId"] = _session;
        }

        await _socket.SendAsync(
            Encoding.UTF8.GetBytes(message.ToJsonString()), WebSocketMessageType.Text, endOfMessage: true, CancellationToken.None);
        var answer = await reply.Task.WaitAsync(Patience);
        Assert.True(answer["error"] is null, string.Create(CultureInfo.InvariantCulture, $"{method}: {answer["error"]}"));
        return answer["result"]!.AsObject();
    }

    private async Task ListenAsync()
    {
        try
        {
            byte[] buffer = new byte[1 << 16];
            using var message = new MemoryStream();
            while (true)
            {
                var received = await _socket.ReceiveAsync(buffer, CancellationToken.None);
                if (received.MessageType == WebSocketMessageType.Close)
                {
                    break;
                }

                message.Write(buffer, 0, received.Count);
                if (received.EndOfMessage)
                {
                    Hear(JsonNode.Parse(message.ToArray())!.AsObject());
                    message.SetLength(0);
                }
            }
        }
        catch (Exception failure) when (failure is WebSocketException or ObjectDisposedException or OperationCanceledException)
        {
            // The browser has ended; who still waits for an answer learns of it below.
        }

        lock (_gate)
        {
            foreach (var reply in _asked.Values)
            {
                reply.TrySetCanceled();
            }
        }
    }

    private void Hear(JsonObject message)
    {
        lock (_gate)
        {
            if (message["id"] is not { } id)
            {
                _events.Add(message);
            }
            else if (_asked.Remove(id.GetValue<int>(), out var reply))
            {
                reply.SetResult(message);
            }
        }
    }
}
