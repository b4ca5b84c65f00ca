namespace Tidepool.Advice;

/// <summary>
/// Follows sampled objects by their addresses through what collections write: which ranges they found alive, where they moved them, and
/// which generation an address is in afterwards. Pure: fed in the order of the events.
/// </summary>
/// <remarks>
/// A collection decides about the generations it takes in. A background collection may take in all of them when it has marked: what it has
/// not found alive by then it frees, in generation 0 too, and new objects get the place. It moves nothing and ages nothing below generation
/// 2, and says nothing of large objects that were allocated while it ran. Other collections may run in the midst of it.
/// </remarks>
internal sealed class LifetimeTracker
{
    private const int Old = 2;

    private readonly List<Followed> _alive = [];
    private Collection? _foreground;
    private Collection? _background;
    private long _added;

    /// <summary>How many collections were followed from their start to their end.</summary>
    public int Collections { get; private set; }

    /// <summary>Begins to follow an object that has just been allocated.</summary>
    /// <param name="address">Where it is.</param>
    /// <param name="isLarge">Whether it is on the large or the pinned object heap.</param>
    /// <returns>What tells its fate so far.</returns>
    public Followed Add(ulong address, bool isLarge)
    {
        var followed = new Followed(address, isLarge, ++_added);
        _alive.Add(followed);
        return followed;
    }

    /// <summary>A collection begins.</summary>
    /// <param name="number">Its number.</param>
    /// <param name="depth">The oldest generation that it takes in.</param>
    /// <param name="isBackground">Whether the program goes on meanwhile.</param>
    public void Start(long number, int depth, bool isBackground)
    {
        if (isBackground)
        {
            long before = _added;
            _background = new Collection(
                number, isBackground, covers => _alive.Where(one => one.Generation < Old ? covers : one.Number <= before));
        }
        else
        {
            _foreground = new Collection(number, isBackground, _ => _alive.Where(one => one.Generation <= depth));
        }
    }

    /// <summary>A collection has found ranges alive, and leaves or puts them somewhere.</summary>
    /// <param name="ranges">The first address of each before, that afterwards, and its bytes.</param>
    public void Survive(IEnumerable<(ulong From, ulong To, ulong Length)> ranges) => (_foreground ?? _background)?.Survive(ranges);

    /// <summary>Which generation a range is in: collections write it when they begin, and again when they end.</summary>
    /// <param name="generation">0 to 2; 3 is the large and 4 the pinned object heap.</param>
    /// <param name="start">Its first address.</param>
    /// <param name="reserved">Its bytes.</param>
    public void Range(int generation, ulong start, ulong reserved) =>
        (_foreground ?? _background)?.Generations.Set(start, reserved, Math.Min(generation, Old));

    /// <summary>A collection ends: what it took in and did not find alive is dead.</summary>
    /// <param name="number">Its number; of one that began before anything was followed, nothing is known.</param>
    public void End(long number)
    {
        if (_foreground?.Number == number)
        {
            Decide(ref _foreground);
        }
        else if (_background?.Number == number)
        {
            Decide(ref _background);
        }
    }

    private void Decide(ref Collection? ended)
    {
        ended!.Decide();
        ended = null;
        _alive.RemoveAll(static one => one.IsDead);
        Collections++;
    }

    /// <summary>An object that is followed.</summary>
    internal sealed class Followed(ulong address, bool isLarge, long number)
    {
        private long _firstLook;
        private bool _hasSurvived;

        /// <summary>Where it is now.</summary>
        public ulong Address { get; private set; } = address;

        /// <summary>The generation it is in; 2 on the large and the pinned object heap.</summary>
        public int Generation { get; private set; } = isLarge ? Old : 0;

        /// <summary>Its place in the order of allocation.</summary>
        public long Number => number;

        /// <summary>Whether a collection has found it dead.</summary>
        public bool IsDead { get; private set; }

        /// <summary>What is known of it so far.</summary>
        public Lifetime Lifetime => new(
            (IsDead, _hasSurvived, Generation == Old) switch
            {
                (_, true, true) => Fate.Kept,
                (true, true, false) => Fate.DiedLater,
                (true, false, _) => Fate.DiedYoung,
                (false, true, false) => Fate.Undecided,
                _ => Fate.Unseen,
            },
            _firstLook);

        /// <summary>A collection has found it dead.</summary>
        public void Die(long collection)
        {
            _firstLook = _hasSurvived ? _firstLook : collection;
            IsDead = true;
        }

        /// <summary>A collection has found it alive.</summary>
        public void Survive(long collection, ulong address, int generation)
        {
            _firstLook = _hasSurvived ? _firstLook : collection;
            _hasSurvived = true;
            Address = address;
            Generation = generation;
        }
    }

    /// <summary>A collection between its start and its end.</summary>
    /// <param name="number">Its number.</param>
    /// <param name="isBackground">Whether the program goes on meanwhile.</param>
    /// <param name="objects">What it takes in, as things are when it writes what survives; told whether it wrote of young objects.</param>
    private sealed class Collection(long number, bool isBackground, Func<bool, IEnumerable<Followed>> objects)
    {
        private readonly List<(ulong From, ulong To, ulong Length)> _survived = [];

        public long Number { get; } = number;

        public GenerationMap Generations { get; } = new();

        public void Survive(IEnumerable<(ulong From, ulong To, ulong Length)> ranges) => _survived.AddRange(ranges);

        public void Decide()
        {
            if (isBackground && _survived.Count == 0)
            {
                return; // it was given up
            }

            _survived.Sort(static (one, other) => one.From.CompareTo(other.From));
            bool isYoungToo = _survived.Exists(range => Generations.Find(range.From) < Old);
            foreach (Followed one in objects(isYoungToo))
            {
                if (AddressAfter(one.Address) is not { } address)
                {
                    one.Die(Number);
                }
                else if (!isBackground || one.Generation == Old)
                {
                    one.Survive(Number, address, Generations.Find(address) ?? Math.Min(one.Generation + 1, Old));
                }
            }
        }

        private ulong? AddressAfter(ulong address)
        {
            int low = 0;
            int high = _survived.Count;
            while (low < high)
            {
                int middle = (low + high) / 2;
                (low, high) = _survived[middle].From <= address ? (middle + 1, high) : (low, middle);
            }

            return low > 0 && address - _survived[low - 1].From is var offset && offset < _survived[low - 1].Length
                ? _survived[low - 1].To + offset
                : null;
        }
    }
}
