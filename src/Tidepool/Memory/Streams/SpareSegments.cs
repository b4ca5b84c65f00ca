namespace Tidepool;

/// <summary>
/// Nodes and tables that long streams leave behind for the next one, so that none allocates once warm. Thread-safe: one short lock, taken
/// once for every 32 segments of a stream beyond the first 32. Charged to the budget of the process while they wait.
/// </summary>
/// <remarks>
/// Only a core that no thread changes may put something here (<see cref="StreamCore.IsTangled"/>): a node that two threads had linked
/// twice would serve two streams.
/// </remarks>
/// <param name="tryCharge">Charges bytes to the budget; false where there is no room.</param>
/// <param name="refund">Gives charged bytes back.</param>
internal sealed class SpareSegments(Func<long, bool> tryCharge, Action<long> refund)
{
    /// <summary>The most nodes that wait: those of 4 GiB of content.</summary>
    internal const int MostNodes = 4096;

    private const int MostTables = 4;
    private const int NodeBytes = 80; // a StreamSegment in a process of 64 bits

    private readonly Lock _gate = new();
    private readonly StreamSegment[]?[] _tables = new StreamSegment[MostTables][];
    private StreamSegment? _first;
    private int _count;
    private int _tableCount;
    private bool _isUsed;

    /// <summary>The number of nodes that wait.</summary>
    internal int Count => Volatile.Read(ref _count);

    /// <summary>Takes up to <paramref name="most"/> linked nodes.</summary>
    internal StreamSegment? TakeNodes(int most, out int count)
    {
        count = 0;
        if (Count == 0)
        {
            return null;
        }

        lock (_gate)
        {
            StreamSegment? first = _first;
            StreamSegment? last = null;
            while (_first is { } node && count < most)
            {
                last = node;
                _first = (StreamSegment?)node.Next;
                count++;
            }

            last?.EndChain();
            RemoveNodes(count);
            _isUsed = true;
            return first;
        }
    }

    /// <summary>Takes linked nodes, as many as there is room for; the others are the collector's.</summary>
    internal void PutNodes(StreamSegment? first, int count)
    {
        lock (_gate)
        {
            count = Math.Min(count, MostNodes - _count);
            if (count == 0 || !tryCharge((long)count * NodeBytes))
            {
                return;
            }

            _count += count;
            for (; count > 0; count--)
            {
                StreamSegment node = first!;
                first = (StreamSegment?)node.Next;
                node.LinkSpare(_first);
                _first = node;
            }
        }
    }

    /// <summary>A table of at least <paramref name="length"/> places, all of them free.</summary>
    internal StreamSegment[] TakeTable(int length)
    {
        lock (_gate)
        {
            _isUsed = true;
            for (int i = 0; i < _tableCount; i++)
            {
                if (_tables[i]!.Length >= length)
                {
                    StreamSegment[] table = _tables[i]!;
                    _tables[i] = _tables[--_tableCount];
                    _tables[_tableCount] = null;
                    refund(BytesOf(table));
                    return table;
                }
            }
        }

        return new StreamSegment[length];
    }

    /// <summary>Takes a table whose places are all free, if there is room for it.</summary>
    internal void PutTable(StreamSegment[] table)
    {
        lock (_gate)
        {
            if (_tableCount < MostTables && table.Length <= MostNodes && tryCharge(BytesOf(table)))
            {
                _tables[_tableCount++] = table;
            }
        }
    }

    /// <summary>Gives up everything that no stream has asked for since the last call.</summary>
    internal void Trim()
    {
        lock (_gate)
        {
            if (!_isUsed)
            {
                _first = null;
                RemoveNodes(_count);
                while (_tableCount > 0)
                {
                    refund(BytesOf(_tables[--_tableCount]!));
                    _tables[_tableCount] = null;
                }
            }

            _isUsed = false;
        }
    }

    private void RemoveNodes(int count)
    {
        _count -= count;
        refund((long)count * NodeBytes);
    }

    private static long BytesOf(StreamSegment[] table) => (long)table.Length * IntPtr.Size;
}
