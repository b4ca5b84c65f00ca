namespace Tidepool.Models.Scheduling;

/// <summary>An invariant did not hold under some schedule, or a schedule made no progress.</summary>
public sealed class ScheduleException : Exception
{
    public ScheduleException()
    {
    }

    public ScheduleException(string message)
        : base(message)
    {
    }

    public ScheduleException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
