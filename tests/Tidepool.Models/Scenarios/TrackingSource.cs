namespace Tidepool.Models.Scenarios;

/// <summary>
/// Buffers that only pretend to be memory, so that large ones cost nothing: an address that no code touches. Knows which of them live.
/// </summary>
internal sealed class TrackingSource : BufferSource<byte>
{
    private readonly HashSet<nint> _live = [];
    private readonly List<string> _faults = [];
    private nint _next = 4096;

    public override BufferForm Form => BufferForm.Native;

    internal int Live
    {
        get
        {
            lock (_live)
            {
                return _live.Count;
            }
        }
    }

    internal IReadOnlyList<string> Faults => _faults;

    public override SourceBuffer<byte> Allocate(int length, int alignment)
    {
        lock (_live)
        {
            _next += 4096;
            _live.Add(_next);
            return new SourceBuffer<byte>(_next, length);
        }
    }

    public override void Free(in SourceBuffer<byte> buffer)
    {
        lock (_live)
        {
            if (!_live.Remove(buffer.Address))
            {
                _faults.Add("a buffer was given to the source twice");
            }
        }
    }
}
