namespace Tidepool;

/// <summary>Waits for the end of the resources that one clear found idle.</summary>
internal sealed class Clearing
{
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal int Left { get; set; }

    internal Task Task => _done.Task;

    internal void Complete() => _done.TrySetResult();
}
