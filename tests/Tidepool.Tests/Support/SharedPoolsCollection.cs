using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Tests.Support;

/// <summary>Tests that use a process-wide pool, the process's memory or every pool at once run alone, one after the other.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
[SuppressMessage("Naming", "CA1711", Justification = "What it is in xunit's words.")]
public sealed class SharedPoolsCollection
{
    public const string Name = "process-wide state";
}
