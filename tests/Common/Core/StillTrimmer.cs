using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool.Tests.Common;

/// <summary>Turns the trimmer's own epochs off, which would move idle items between any two statements of a test.</summary>
internal static class StillTrimmer
{
    [ModuleInitializer]
    [SuppressMessage("Usage", "CA2255", Justification = "Whatever test runs first, the clock must be still.")]
    internal static void TurnOff() => Trimmer.IsAutomatic = false;
}
