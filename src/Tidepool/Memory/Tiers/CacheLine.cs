using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Room between fields that different threads write, so that they do not share a cache line (64 bytes on most processors). Only between
/// structs: the runtime lays out all other fields before them. For a number by itself see <see cref="PaddedInt"/>.
/// </summary>
[InlineArray(8)]
internal struct CacheLine
{
    private long _first;
}
