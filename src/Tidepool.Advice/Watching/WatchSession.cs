using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Globalization;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>
/// Attaches to a process, keeps an accumulator fed, and hands out frames. Without stacks and without <c>ArrayPool</c> events, so that
/// watching costs the process close to nothing.
/// </summary>
internal sealed class WatchSession : IDisposable
{
    private const int BufferMegabytes = 16;
    private const int StopMilliseconds = 2000;
    private const long CollectionKeyword = 0x1;
    private const long TimeSeriesKeyword = 0x2;
    private const long PoolsKeyword = 0x2;

    private readonly Lock _gate = new();
    private readonly WatchAccumulator _accumulator = new();
    private readonly DiagnosticsClient _client;
    private readonly TargetProcess _target;
    private readonly long _start = Stopwatch.GetTimestamp();
    private readonly ArrayPoolListener _arrayPool;
    private readonly CancellationTokenSource _disposed = new();
    private Dictionary<string, string> _metrics = MetricsArguments();
    private EventPipeSession _session;
    private EventPipeEventSource? _source;
    private string? _note;

    private WatchSession(DiagnosticsClient client, TargetProcess target, CancellationToken stop)
    {
        _client = client;
        _target = target;
        _session = Connection.Open(client, target, ConfigurationOf(target, _metrics), stop);
        _arrayPool = new ArrayPoolListener(client, target);
        Ended = Task.Factory.StartNew(Read, TaskCreationOptions.LongRunning);
    }

    /// <summary>Completes when the process has ended, or the session has.</summary>
    public Task Ended { get; }

    /// <summary>Whether a window of <c>ArrayPool</c> events is open.</summary>
    public bool IsArrayPoolOpen => _arrayPool.IsOpen;

    /// <summary>Attaches.</summary>
    /// <param name="target">The process.</param>
    /// <param name="stop">Ends the wait for its answer.</param>
    /// <exception cref="TargetException">The process does not answer.</exception>
    public static WatchSession Start(TargetProcess target, CancellationToken stop) => new(new(target.Id), target, stop);

    /// <summary>Opens a window of <c>ArrayPool</c> events, unless one is open.</summary>
    public void OpenArrayPool() => _arrayPool.Open();

    /// <summary>The frame of the time since the last one.</summary>
    public WatchFrame Take()
    {
        lock (_gate)
        {
            return _accumulator.Take(Stopwatch.GetElapsedTime(_start).TotalSeconds) with
            {
                ArrayPool = _arrayPool.Last,
                LostEvents = _source?.EventsLost ?? 0,
                Note = _arrayPool.Failure ?? _note,
            };
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _disposed.Cancel();
        _arrayPool.Dispose();
        Connection.Close(_session, StopMilliseconds);
        Ended.Wait(StopMilliseconds);
    }

    private static Dictionary<string, string> MetricsArguments() => new()
    {
        // The session that monitors share; in one of its own this would end theirs.
        ["SessionId"] = "SHARED",
        ["ClientId"] = Guid.NewGuid().ToString(),
        ["Metrics"] = MeterMap.Meters,
        ["RefreshInterval"] = "1",
        ["MaxTimeSeries"] = "1000",
        ["MaxHistograms"] = "10",
    };

    private static EventPipeSessionConfiguration ConfigurationOf(TargetProcess target, Dictionary<string, string> metrics) => new(
        [
            new("System.Diagnostics.Metrics", EventLevel.Informational, TimeSeriesKeyword, metrics),
            RuntimeEvents.Of(
                target, CollectionKeyword, RuntimeEvents.CollectionStart, RuntimeEvents.PauseStart, RuntimeEvents.PauseEnd),
            // At the lowest level: the events of pools that answer pass at every level, allocations and drops do not.
            new("Tidepool", EventLevel.Critical, PoolsKeyword, new Dictionary<string, string> { ["PoolInterval"] = "1000" }),
        ],
        BufferMegabytes,
        requestRundown: false,
        requestStackwalk: false);

    /// <summary>Reads events until the process or the session ends.</summary>
    private void Read()
    {
        try
        {
            while (ReadSession() is { } metrics && !_disposed.IsCancellationRequested)
            {
                // Another monitor has the shared session with other settings, which ours must equal.
                EventPipeSession old = _session;
                _session = Connection.Open(_client, _target, ConfigurationOf(_target, metrics), _disposed.Token);
                _metrics = metrics;
                Connection.Close(old, StopMilliseconds);
            }
        }
        catch (TargetException)
        {
            // The process has ended meanwhile.
        }
    }

    /// <summary>Reads one session to its end.</summary>
    /// <returns>The settings to try again with; null when there is no reason to.</returns>
    private Dictionary<string, string>? ReadSession()
    {
        Dictionary<string, string>? again = null;
        try
        {
            using var source = new EventPipeEventSource(_session.EventStream);
            _source = source;
            source.Clr.GCStart += written => Add(a => a.AddCollection(written.Depth, written.Reason.ToString()));
            PauseEvents.Listen(source, pause => Add(a => a.AddPause(pause)));
            source.Dynamic.All += written =>
            {
                if (IsRefusal(written))
                {
                    again = SettingsOf(written);
                    source.StopProcessing();
                }
                else
                {
                    AddDynamic(written);
                }
            };
            source.Process();
        }
        catch (Exception failure) when (failure is IOException or FormatException or ObjectDisposedException or InvalidOperationException)
        {
            // The stream broke off: the process has ended, and what it had written last is incomplete.
        }

        return again;
    }

    /// <summary>Whether our settings were refused. Each monitor hears the refusals of all others too.</summary>
    private bool IsRefusal(TraceEvent written) =>
        written is { ProviderName: "System.Diagnostics.Metrics", EventName: "MultipleSessionsConfiguredIncorrectlyError" }
        && EventValues.Text(written, "clientId") == _metrics["ClientId"];

    private void AddDynamic(TraceEvent written)
    {
        switch (written.ProviderName)
        {
            case "Tidepool":
                Add(a => PoolEvents.Add(a, written));
                break;
            case "System.Diagnostics.Metrics":
                Add(a => MeterEvents.Add(a, written));
                _note = MeterEvents.NoteOf(written) ?? _note;
                break;
        }
    }

    private void Add(Action<WatchAccumulator> add)
    {
        lock (_gate)
        {
            add(_accumulator);
        }
    }

    private static Dictionary<string, string> SettingsOf(TraceEvent written)
    {
        Dictionary<string, string> settings = MetricsArguments();
        settings["RefreshInterval"] = (EventValues.Decimal(written, "expectedRefreshInterval") ?? 1).ToString(CultureInfo.InvariantCulture);
        settings["MaxTimeSeries"] = EventValues.Text(written, "expectedMaxTimeSeries");
        settings["MaxHistograms"] = EventValues.Text(written, "expectedMaxHistograms");
        return settings;
    }
}
