using Xunit.Abstractions;
using Xunit.Sdk;

namespace Tidepool.Tests.Common;

/// <summary>
/// Puts the facts of an attribute into category Environment: they depend on real time, servers, sockets or child processes.
/// <c>./tidepool test</c> runs such a test once more, alone, when it failed; it never does so for any other test.
/// </summary>
public sealed class EnvironmentTrait : ITraitDiscoverer
{
    /// <summary>The name of this type, as the attributes want it; beside it stands the name of their assembly.</summary>
    public const string Name = "Tidepool.Tests.Common.EnvironmentTrait";

    public IEnumerable<KeyValuePair<string, string>> GetTraits(IAttributeInfo traitAttribute) => [new("Category", "Environment")];
}
