namespace Tidepool;

/// <summary>Whether the calling thread is in the middle of a return, so that no other renter's code may run on it.</summary>
internal static class Returning
{
    [ThreadStatic]
    private static bool t_isHere;

    internal static bool IsHere => t_isHere;

    /// <summary>Notes the beginning or the end.</summary>
    /// <returns>What was noted before, for the end.</returns>
    internal static bool Set(bool isHere)
    {
        bool was = t_isHere;
        t_isHere = isHere;
        return was;
    }
}
