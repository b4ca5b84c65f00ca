namespace Tidepool;

/// <summary>What a stream may do and what has to be done when it ends.</summary>
[Flags]
internal enum StreamFlags
{
    /// <summary>Closed.</summary>
    None = 0,

    /// <summary>May be written to.</summary>
    Writable = 1,

    /// <summary>May grow.</summary>
    Expandable = 2,

    /// <summary><see cref="MemoryStream.GetBuffer"/> works.</summary>
    Exposable = 4,

    /// <summary>Over the caller's memory.</summary>
    Fixed = 8,

    /// <summary>Foreign segments are written in place: the caller gave an array for that.</summary>
    WritesForeign = 16,

    /// <summary>Segments come from a pool of the caller.</summary>
    OwnPool = 32,

    /// <summary>Segments are zeroed before they are returned.</summary>
    Wipes = 64,

    /// <summary>Memory handed out by GetMemory waits apart from the content.</summary>
    HasScratch = 128,

    /// <summary>Has options that are not those of a new stream.</summary>
    HasOptions = 256,

    /// <summary>Has memory of the caller among its segments, which must not be written to.</summary>
    HasAppended = 512,

    /// <summary>Has rented segments.</summary>
    HasRented = 1024,

    /// <summary>Over an array of the caller, which the stream object gives away also when it is disposed.</summary>
    OverArray = 2048,

    /// <summary>As a stream made without arguments.</summary>
    Default = Writable | Expandable | Exposable,
}
