using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// What a return clears once it is certain to be the one return of its rental. A struct parameter, so that nothing costs nothing.
/// </summary>
internal interface IClear
{
    /// <summary>Clears; must not throw.</summary>
    /// <remarks>It runs while the magazine is busy, which would stay so, and the thread that closes it would wait.</remarks>
    void Run();
}

/// <summary>Clears nothing.</summary>
internal readonly struct NoClear : IClear
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Run()
    {
    }
}

/// <summary>Clears a range of an array, so that an idle buffer keeps no object alive.</summary>
/// <remarks>The range lies inside the array: <see cref="BufferSlot{T}.ToClear"/>.</remarks>
internal readonly struct ClearRange(Array? array, int offset, int length) : IClear
{
    public void Run()
    {
        if (array is not null)
        {
            Array.Clear(array, offset, length);
        }
    }
}
