namespace Tidepool.Data;

/// <summary>What an error of a database says about the session it happened on, and about the others.</summary>
public enum DbErrorKind
{
    /// <summary>Nothing: the statement failed, the session is good.</summary>
    Statement,

    /// <summary>This session is over; nothing is known of others.</summary>
    Session,

    /// <summary>The server has gone, or was restarted: every session of this time is suspect, and is made anew.</summary>
    Server,

    /// <summary>The server answers, but it is not the one that writes: sessions are made anew, in the hope of the right one.</summary>
    ReadOnlyServer,

    /// <summary>The server has no more room for a session. Sessions that live go on; creations are tried again after a wait.</summary>
    Exhausted,

    /// <summary>The server refuses these credentials. No retry will help: creations fail at once, sessions that live go on.</summary>
    Credentials,
}
