namespace Tidepool;

/// <summary>One stack of chunks of the shared tier, with the emptied chunks that wait for reuse. Every method holds its lock for a few instructions.</summary>
internal sealed class Stripe
{
    private const int MaxEmpties = 64;

    private readonly Lock _gate = new();
    private readonly Stack<Chunk> _empties = new();
    private readonly List<Chunk> _chunks = [];
    private int _low; // the fewest chunks since the last trim

    internal void Push(Chunk chunk)
    {
        lock (_gate)
        {
            _chunks.Add(chunk);
        }
    }

    internal Chunk? Pop()
    {
        lock (_gate)
        {
            int last = _chunks.Count - 1;
            if (last < 0)
            {
                return null;
            }

            Chunk chunk = _chunks[last];
            _chunks.RemoveAt(last);
            _low = Math.Min(_low, last);
            return chunk;
        }
    }

    internal Chunk? PopEmpty()
    {
        lock (_gate)
        {
            return _empties.TryPop(out Chunk? chunk) ? chunk : null;
        }
    }

    internal void PushEmpty(Chunk chunk)
    {
        lock (_gate)
        {
            if (_empties.Count < MaxEmpties)
            {
                _empties.Push(chunk);
            }
        }
    }

    /// <summary>Takes the oldest chunks: all, or half of the low-water mark, rounded up.</summary>
    internal void Trim(bool all, List<Chunk> taken)
    {
        lock (_gate)
        {
            int count = all ? _chunks.Count : (_low + 1) / 2;
            taken.AddRange(_chunks.GetRange(0, count));
            _chunks.RemoveRange(0, count);
            _low = _chunks.Count;
            if (_low == 0)
            {
                _empties.Clear();
                _empties.TrimExcess();
                _chunks.TrimExcess();
            }
        }
    }

    internal long ItemCount()
    {
        lock (_gate)
        {
            long sum = 0;
            foreach (Chunk chunk in _chunks)
            {
                sum += chunk.Count;
            }

            return sum;
        }
    }

    internal bool IsValid(HashSet<object> seen, ref int chunks)
    {
        lock (_gate)
        {
            chunks += _chunks.Count;
            foreach (Chunk chunk in _chunks)
            {
                foreach (object? item in chunk.Content())
                {
                    if (item is null || !seen.Add(item))
                    {
                        return false;
                    }
                }
            }

            return _low <= _chunks.Count && _chunks.TrueForAll(c => c.Count > 0) && _empties.All(e => e.Count == 0);
        }
    }
}
