namespace Tidepool;

/// <summary>Waits for the end of the resources that one clear found idle.</summary>
internal sealed class Clearing
{
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal int Left { get; set; }

    internal Task Task => _done.Task;

    internal void Complete() => _done.TrySetResult();
}

/// <summary>One caller that waits until the pool has grown to a number of resources.</summary>
internal sealed class Warming(int count)
{
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal int Count => count;

    internal Task Task => _done.Task;

    internal void Complete() => _done.TrySetResult();

    internal void Fail(Exception failure) => _done.TrySetException(failure);
}
