namespace Tidepool.Data.Tests.Faults;

/// <summary>Threads of ordinary priority that compute until it is disposed, and leave all others little of the processor.</summary>
internal sealed class Load : IDisposable
{
    private readonly Thread[] _threads;
    private volatile bool _isOver;

    public Load(int threads)
    {
        _threads = [.. Enumerable.Range(0, threads).Select(_ => new Thread(Compute) { IsBackground = true })];
        Array.ForEach(_threads, static thread => thread.Start());
    }

    public void Dispose()
    {
        _isOver = true;
        Array.ForEach(_threads, static thread => thread.Join());
    }

    private void Compute()
    {
        while (!_isOver)
        {
            Thread.SpinWait(1000);
        }
    }
}
