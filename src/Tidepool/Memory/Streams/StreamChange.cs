namespace Tidepool;

/// <summary>A change of a stream's core that is under way; disposing it ends the change.</summary>
/// <seealso cref="StreamCore.BeginChange"/>
internal readonly ref struct StreamChange(StreamCore core) : IDisposable
{
    public void Dispose() => core.EndChange();
}
