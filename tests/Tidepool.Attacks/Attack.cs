namespace Tidepool.Attacks;

/// <summary>
/// A program that tries to break one promise of the library, for as long as it is told, on as many threads as it is told.
/// </summary>
internal abstract class Attack
{
    private static readonly Attack[] Known =
    [
        new TornSpan(), new TornDisposal(), new TornWriter(), new EarlierContent(),
        new WriteDuringDisposal(false, 600), new WriteDuringDisposal(true, 600),
        new WriteDuringDisposal(false, 20_000), new WriteDuringDisposal(true, 20_000),
        new LateDisposal(), new StackOnTheHeap(), new StackInAFrame(), new TornMany(),
        new TornBuffers(), new TornObjects(), new TornOwners(), new TornSequences(),
        new TornResources(), new TornKeyed(), new TornShared(), new TornStreams(),
        new ContentBehind(), new LateWrappers(), new LateStreamLease(), new StackAfterThread(), new Coroutines(),
        new UseDuringDisposal(false), new UseDuringDisposal(true),
    ];

    private readonly Lock _gate = new();
    private readonly Dictionary<string, long> _broken = [];
    private long _rounds;

    /// <summary>All of them, by name.</summary>
    public static IReadOnlyDictionary<string, Attack> All { get; } = Known.ToDictionary(static attack => attack.Name);

    /// <summary>The name on the command line.</summary>
    public abstract string Name { get; }

    /// <summary>What the library promises, in one sentence.</summary>
    public abstract string Promise { get; }

    /// <summary>The command that the attack needs in front of the program, or nothing.</summary>
    public virtual string? Before => null;

    /// <summary>How often each broken promise was seen; empty when all held.</summary>
    public IReadOnlyDictionary<string, long> Broken => _broken;

    /// <summary>How many rounds were made.</summary>
    public long Rounds => Volatile.Read(ref _rounds);

    /// <summary>Attacks until the time is over.</summary>
    /// <param name="time">For how long.</param>
    /// <param name="threads">On how many threads, at least 2.</param>
    /// <param name="seed">What random choices start from.</param>
    public abstract void Run(TimeSpan time, int threads, int seed);

    /// <summary>Counts rounds.</summary>
    protected void Count(long rounds = 1) => Interlocked.Add(ref _rounds, rounds);

    /// <summary>Notes a promise that did not hold.</summary>
    protected void Break(string what)
    {
        lock (_gate)
        {
            _broken[what] = _broken.GetValueOrDefault(what) + 1;
        }
    }

    /// <summary>Notes a pool that is not valid.</summary>
    /// <remarks>The background trimmer may move buffers during one walk, but hardly during all of several.</remarks>
    protected void Validate(Action validate)
    {
        for (int again = 5; ; again--)
        {
            try
            {
                validate();
                return;
            }
            catch (InvalidOperationException broken)
            {
                if (again == 0)
                {
                    Break(broken.Message);
                    return;
                }
            }

            Thread.Sleep(200);
        }
    }

    /// <summary>Notes that something did not end within a minute.</summary>
    protected void Ends(string what, Action body)
    {
        var thread = new Thread(() => body()) { IsBackground = true };
        thread.Start();
        if (!thread.Join(TimeSpan.FromMinutes(1)))
        {
            Break($"{what} did not end");
        }
    }

    /// <summary>Runs the body on so many threads, each with its number and its own random choices.</summary>
    protected void Together(int threads, int seed, Action<int, Random> body) =>
        Together(Enumerable.Range(0, threads).Select<int, Action>(thread => () => body(thread, new Random(seed + thread))));

    /// <summary>Runs the bodies on threads of their own; one that throws breaks the promise that it does not.</summary>
    protected void Together(IEnumerable<Action> bodies)
    {
        Thread[] threads = [.. bodies.Select(body => new Thread(() =>
        {
            try
            {
                body();
            }
#pragma warning disable CA1031 // Whatever an attacked call throws is a finding.
            catch (Exception thrown)
#pragma warning restore CA1031
            {
                Break($"{thrown.GetType().Name}: {thrown.Message}");
            }
        })
        { IsBackground = true })];
        Array.ForEach(threads, static thread => thread.Start());
        foreach (Thread thread in threads)
        {
            if (!thread.Join(TimeSpan.FromMinutes(1) + Deadline.Longest))
            {
                Break("a thread did not end");
            }
        }
    }
}
