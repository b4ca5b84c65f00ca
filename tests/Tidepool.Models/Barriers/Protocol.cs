namespace Tidepool.Models.Barriers;

/// <summary>Two little programs on a <see cref="BufferedMachine"/>, and what they must never do.</summary>
internal abstract class Protocol
{
    private readonly HashSet<BufferedMachine> _seen = [];

    internal int States => _seen.Count;

    /// <summary>Visits every state.</summary>
    /// <returns>How the protocol was broken, or null.</returns>
    internal string? VisitAll()
    {
        var open = new Stack<BufferedMachine>();
        open.Push(BufferedMachine.Start);
        while (open.TryPop(out BufferedMachine? state))
        {
            if (!_seen.Add(state))
            {
                continue;
            }

            if (Fault(state) is { } fault)
            {
                return $"{fault}: {state}";
            }

            foreach (BufferedMachine next in Steps(state))
            {
                open.Push(next);
            }
        }

        return null;
    }

    /// <summary>One way through, chosen by <paramref name="random"/>.</summary>
    /// <returns>How the protocol was broken, or null.</returns>
    internal string? Walk(Random random)
    {
        BufferedMachine state = BufferedMachine.Start;
        while (true)
        {
            if (Fault(state) is { } fault)
            {
                return $"{fault}: {state}";
            }

            List<BufferedMachine> next = Steps(state).ToList();
            if (next.Count == 0)
            {
                return null;
            }

            state = next[random.Next(next.Count)];
        }
    }

    /// <summary>What is wrong in <paramref name="state"/>, or null.</summary>
    protected abstract string? Fault(BufferedMachine state);

    /// <summary>The next instruction of <paramref name="thread"/>, or null when it has ended or must wait.</summary>
    protected abstract BufferedMachine? Step(int thread, BufferedMachine state);

    private IEnumerable<BufferedMachine> Steps(BufferedMachine state)
    {
        for (int thread = 0; thread < 2; thread++)
        {
            if (!state.IsDrained(thread))
            {
                yield return state.Drain(thread);
            }

            if (Step(thread, state) is { } next)
            {
                yield return next;
            }
        }
    }
}
