using Tidepool.Tests.Streams;
using System.Buffers;

namespace Tidepool.Misuse.Support;

/// <summary>An array pool that counts, and refuses what it did not hand out or has back already.</summary>
internal sealed class StrictArrayPool : ArrayPool<byte>
{
    private readonly HashSet<byte[]> _out = new(ReferenceEqualityComparer.Instance);
    private readonly Lock _gate = new();

    public int Out
    {
        get
        {
            lock (_gate)
            {
                return _out.Count;
            }
        }
    }

    public int Rented { get; private set; }

    public int Returned { get; private set; }

    /// <summary>The return with this number throws, after the array was taken; 0 is none.</summary>
    public int FailingReturn { get; init; }

    public override byte[] Rent(int minimumLength)
    {
        byte[] array = new byte[minimumLength];
        lock (_gate)
        {
            Rented++;
            _out.Add(array);
        }

        return array;
    }

    public override void Return(byte[] array, bool clearArray = false)
    {
        lock (_gate)
        {
            Returned++;
            if (!_out.Remove(array))
            {
                throw new InvalidOperationException("An array came back that is not out.");
            }

            if (Returned == FailingReturn)
            {
                throw new FormatException("The pool failed.");
            }
        }
    }
}

/// <summary>A target whose write calls back.</summary>
internal sealed class CallbackTarget(Action<int> onWrite) : TargetStream
{
    private int _writes;

    public override void Write(byte[] buffer, int offset, int count) => onWrite(++_writes);
}
