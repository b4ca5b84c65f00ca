namespace Tidepool.Analyzers;

/// <summary>
/// What is known on one way through a method: a row of small numbers, zero where nothing is known. States are compared by content; a
/// state that was put into a set is not changed any more.
/// </summary>
internal sealed class FlowState : IEquatable<FlowState>
{
    private int[] _cells;

    internal FlowState() => _cells = [];

    private FlowState(int[] cells) => _cells = cells;

    internal int this[int slot]
    {
        get => slot < _cells.Length ? _cells[slot] : 0;
        set
        {
            if (slot >= _cells.Length)
            {
                if (value == 0)
                {
                    return;
                }

                Array.Resize(ref _cells, slot + 8);
            }

            _cells[slot] = value;
        }
    }

    internal int Length => _cells.Length;

    /// <inheritdoc/>
    public bool Equals(FlowState? other)
    {
        if (other is null)
        {
            return false;
        }

        int length = Math.Max(_cells.Length, other._cells.Length);
        for (int i = 0; i < length; i++)
        {
            if (this[i] != other[i])
            {
                return false;
            }
        }

        return true;
    }

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as FlowState);

    /// <inheritdoc/>
    public override int GetHashCode()
    {
        int hash = 17;
        for (int i = 0; i < _cells.Length; i++)
        {
            if (_cells[i] != 0)
            {
                hash = unchecked((hash * 31) + (_cells[i] * 7919) + i);
            }
        }

        return hash;
    }

    internal FlowState Clone() => new((int[])_cells.Clone());
}
