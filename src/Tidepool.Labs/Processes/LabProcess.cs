using System.Diagnostics;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>A child process that measures for one lab; one request at a time.</summary>
internal sealed class LabProcess : IDisposable
{
    private readonly ChildProcess _child;
    private readonly Process _process;

    private LabProcess(Process process)
    {
        _child = new ChildProcess(process);
        _process = process;
    }

    /// <summary>The number of the process.</summary>
    public int Id => _process.Id;

    /// <summary>Starts a child.</summary>
    /// <exception cref="LabProcessException">It did not start.</exception>
    public static LabProcess Start(ChildCommand command, string lab, LabMode mode) =>
        new(Process.Start(command.ToStartInfo(lab, mode)) ?? throw new LabProcessException("The measuring process did not start."));

    /// <summary>Lets the child make and warm the loops of the workloads.</summary>
    /// <exception cref="LabProcessException">The child failed or ended.</exception>
    /// <exception cref="OperationCanceledException">The run was stopped.</exception>
    public async Task PrepareAsync(IReadOnlyList<int> workloads, Action<double> progress, CancellationToken stop)
    {
        await SendAsync(new ChildRequest(Prepare: workloads), stop);
        while (true)
        {
            var message = await ReceiveAsync(stop);
            progress(message.Progress ?? 1);
            if (message.Prepared == true)
            {
                return;
            }
        }
    }

    /// <summary>Lets the child measure rounds of workloads that it has prepared.</summary>
    /// <exception cref="LabProcessException">The child failed or ended.</exception>
    /// <exception cref="OperationCanceledException">The run was stopped.</exception>
    public async Task<MeasureReply> MeasureAsync(MeasureRequest request, Action<double> progress, CancellationToken stop)
    {
        await SendAsync(new ChildRequest(Measure: request), stop);
        while (true)
        {
            var message = await ReceiveAsync(stop);
            progress(message.Progress ?? 0);
            if (message.Measured is { } measured)
            {
                return measured;
            }
        }
    }

    /// <summary>Lets the child begin a probe; the result follows by <see cref="FinishProbeAsync"/>.</summary>
    public Task BeginProbeAsync(int probe, CancellationToken stop) => SendAsync(new ChildRequest(Probe: probe), stop);

    /// <summary>Waits until the probe says that it only waits from now on; returns early when it is done before.</summary>
    /// <exception cref="LabProcessException">The child failed or ended.</exception>
    public async Task<ProbeReply?> WaitUntilQuietAsync(CancellationToken stop)
    {
        while (true)
        {
            var message = await ReceiveAsync(stop);
            if (message.Quiet == true || message.Probed is not null)
            {
                return message.Probed;
            }
        }
    }

    /// <summary>Waits for the probe's result.</summary>
    /// <exception cref="LabProcessException">The child failed or ended.</exception>
    public async Task<ProbeReply> FinishProbeAsync(CancellationToken stop)
    {
        while (true)
        {
            if ((await ReceiveAsync(stop)).Probed is { } probed)
            {
                return probed;
            }
        }
    }

    /// <summary>Lets the child end by itself, as it does when its input ends, and waits for that.</summary>
    /// <exception cref="LabProcessException">It did not end within ten seconds.</exception>
    /// <exception cref="OperationCanceledException">The run was stopped.</exception>
    public async Task EndAsync(CancellationToken stop)
    {
        try
        {
            _process.StandardInput.Close();
            await _process.WaitForExitAsync(stop).WaitAsync(TimeSpan.FromSeconds(10), stop);
        }
        catch (IOException)
        {
            throw Ended();
        }
        catch (TimeoutException)
        {
            throw new LabProcessException("The measuring process did not end by itself within ten seconds.");
        }
    }

    /// <summary>Ends the child.</summary>
    public void Dispose() => _child.Dispose();

    private async Task SendAsync(ChildRequest request, CancellationToken stop)
    {
        try
        {
            await _process.StandardInput.WriteLineAsync(MessageLine.Write(request).AsMemory(), stop);
            await _process.StandardInput.FlushAsync(stop);
        }
        catch (IOException)
        {
            throw Ended();
        }
    }

    private async Task<ChildMessage> ReceiveAsync(CancellationToken stop)
    {
        string line = await _process.StandardOutput.ReadLineAsync(stop) ?? throw Ended();
        var message = Parse(line);
        return message.Failure is null ? message : throw new LabProcessException(message.Failure);
    }

    private static ChildMessage Parse(string line)
    {
        try
        {
            return MessageLine.Read<ChildMessage>(line);
        }
        catch (JsonException)
        {
            throw new LabProcessException($"The measuring process ended early or is another program. It said: {line}");
        }
    }

    private LabProcessException Ended() => new($"The measuring process ended early. {_child.Errors}");
}

/// <summary>A measuring process failed.</summary>
internal sealed class LabProcessException(string message) : Exception(message);
