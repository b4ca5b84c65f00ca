using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Arrays of the managed heap: the source of a pool that names none. Dying means that the garbage collector may have them.
/// </summary>
/// <typeparam name="T">Any element type.</typeparam>
public sealed class HeapSource<T> : BufferSource<T>
{
    private HeapSource()
    {
    }

    /// <summary>The one instance; it has no state.</summary>
    public static HeapSource<T> Instance { get; } = new();

    /// <inheritdoc/>
    public override BufferForm Form => BufferForm.WholeArray;

    /// <inheritdoc/>
    /// <remarks>Allocates one array, not zeroed when <typeparamref name="T"/> holds no references.</remarks>
    public override SourceBuffer<T> Allocate(int length, int alignment) =>
        new(RuntimeHelpers.IsReferenceOrContainsReferences<T>() ? new T[length] : GC.AllocateUninitializedArray<T>(length), 0, length);
}
