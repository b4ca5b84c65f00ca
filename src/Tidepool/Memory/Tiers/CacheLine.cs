using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Room between fields that different threads write, so that they do not share a cache line (64 bytes on most processors).
/// </summary>
[InlineArray(8)]
internal struct CacheLine
{
    private long _first;
}
