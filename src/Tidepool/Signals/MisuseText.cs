namespace Tidepool;

/// <summary>The sentences of misuse reports, in one place so that they read alike.</summary>
internal static class MisuseText
{
    internal static string Describe(MisuseKind kind, string pool, string? detail)
    {
        string what = kind switch
        {
            MisuseKind.DoubleReturn => "A rental was returned twice. Return it once, or use 'using' and no Return",
            MisuseKind.UseAfterReturn => "A lease was used after it was returned. Use what it holds before Return or Dispose",
            MisuseKind.RacingReturn => "Two threads returned one rental at the same time. One of them must own it",
            MisuseKind.ForeignReturn => "Something was returned to a pool that did not hand it out, or that has it already. Return it where it was rented, once",
            MisuseKind.WrongLength => "An array was returned whose length is not one of the pool's. Return the array as it was rented",
            MisuseKind.NeverReturned => "A rental was dropped without being returned. Dispose every lease",
            MisuseKind.WriteAfterReturn => "Memory was written to after it was returned. No span or array of a rental may be used after its return",
            _ => "A lease was disposed again after what it held was leased to someone else. Dispose each lease once",
        };
        return detail is null ? $"{what} (pool '{pool}')." : $"{what} (pool '{pool}'). {detail}";
    }
}
