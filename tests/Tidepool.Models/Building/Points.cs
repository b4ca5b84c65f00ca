namespace Tidepool.Models.Building;

/// <summary>Points inside expressions of code that <see cref="PointInserter"/> has changed.</summary>
public static class Points
{
    /// <summary>A point; always true.</summary>
    public static bool Here(string place)
    {
        Scheduling.Lockstep.Point(place);
        return true;
    }
}
