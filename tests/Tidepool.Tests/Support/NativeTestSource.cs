using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool.Tests.Support;

/// <summary>Native memory, counted: a source as a program would write it. Can be told to fail.</summary>
public sealed class NativeTestSource<T> : BufferSource<T>, IDisposable
    where T : unmanaged
{
    private readonly Lock _gate = new();
    private readonly HashSet<nint> _live = [];
    private int _failAt = -1;
    private int _asked;
    private int _strangers;

    public override BufferForm Form => BufferForm.Native;

    /// <summary>Buffers made and not freed.</summary>
    public int Live
    {
        get
        {
            lock (_gate)
            {
                return _live.Count;
            }
        }
    }

    public int Made { get; private set; }

    /// <summary>The Nth allocation from now (1 = the next) throws InsufficientMemoryException (an OutOfMemoryException).</summary>
    public void FailAt(int nth)
    {
        lock (_gate)
        {
            _asked = 0;
            _failAt = nth;
        }
    }

    public override unsafe SourceBuffer<T> Allocate(int length, int alignment)
    {
        lock (_gate)
        {
            if (++_asked == _failAt)
            {
                throw new InsufficientMemoryException("As asked by the test.");
            }

            nint address = (nint)NativeMemory.AllocZeroed((nuint)Math.Max(length, 1), (nuint)Unsafe.SizeOf<T>());
            _live.Add(address);
            Made++;
            return new SourceBuffer<T>(address, length);
        }
    }

    public override unsafe void Free(in SourceBuffer<T> buffer)
    {
        lock (_gate)
        {
            // A pool survives a source that throws, so the fault is kept for Dispose.
            if (!_live.Remove(buffer.Address))
            {
                _strangers++;
                return;
            }

            NativeMemory.Free((void*)buffer.Address);
        }
    }

    public unsafe void Dispose()
    {
        lock (_gate)
        {
            foreach (nint address in _live)
            {
                NativeMemory.Free((void*)address);
            }

            _live.Clear();
            Assert.True(_strangers == 0, $"{_strangers} buffers were freed twice or never made.");
        }
    }
}
