using System.Diagnostics.Tracing;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>Listens before it has a pool, as a session that is open when a program starts, and uses a pool that says nothing.</summary>
internal static class EarlyProgram
{
    public const string Name = "early";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public static async Task RunAsync()
    {
        using var listener = new PoolListener();
        await using var pool = ResourcePool.Create(static _ => Task.FromResult(new object()), new() { Name = Name, MaxSize = 1 });
        Console.WriteLine(listener.Described.Wait(Patience) ? WatchedProgram.Ready : "no pool was described");
        await Console.In.ReadToEndAsync();
    }

    private sealed class PoolListener : EventListener
    {
        private const int PoolDescribed = 40;

        // The base class calls the methods below before this class has made anything.
        private ManualResetEventSlim? _described;

        public ManualResetEventSlim Described => LazyInitializer.EnsureInitialized(ref _described);

        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource.Name == "Tidepool")
            {
                EnableEvents(
                    eventSource, EventLevel.Warning, (EventKeywords)2, new Dictionary<string, string?> { ["PoolInterval"] = "100" });
            }
        }

        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            if (eventData.EventId == PoolDescribed && eventData.Payload?[0] is Name)
            {
                Described.Set();
            }
        }
    }
}
