namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>A resource that only counts.</summary>
public sealed class Client : IDisposable
{
    public bool IsDisposed { get; private set; }

    public void Dispose() => IsDisposed = true;
}

/// <summary>Creates clients, or fails.</summary>
public sealed class ClientPolicy : ResourcePolicy<Client>
{
    private int _created;

    /// <summary>What a creation throws, or null.</summary>
    public Exception? Failure { get; set; }

    /// <summary>What a destruction waits for, or null.</summary>
    public Task? Ending { get; set; }

    public int Created => Volatile.Read(ref _created);

    public override ValueTask<Client> CreateAsync(CancellationToken cancellationToken)
    {
        if (Failure is { } failure)
        {
            throw failure;
        }

        Interlocked.Increment(ref _created);
        return new(new Client());
    }

    public override async ValueTask DestroyAsync(Client resource, DestroyReason reason)
    {
        await (Ending ?? Task.CompletedTask);
        resource.Dispose();
    }
}
