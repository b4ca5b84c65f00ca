namespace Tidepool;

/// <summary>Reads what exceptions of foreign code say, also of those that throw where they should say it.</summary>
internal static class FailureText
{
    internal static string MessageOf(Exception failure) => Read(failure, static e => e.Message);

    internal static string TextOf(Exception failure) => Read(failure, static e => e.ToString());

    private static string Read(Exception failure, Func<Exception, string?> read)
    {
        try
        {
            return read(failure) ?? string.Empty;
        }
        catch (Exception e)
        {
            return $"({failure.GetType().Name}, whose text threw {e.GetType().Name})";
        }
    }
}
