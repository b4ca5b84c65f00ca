using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.AspNetCore.Tests;

/// <summary>A fact about a real server on the loopback interface.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.AspNetCore.Tests")]
internal sealed class ServerFactAttribute : FactAttribute, ITraitAttribute;

/// <summary>A theory about one.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.AspNetCore.Tests")]
internal sealed class ServerTheoryAttribute : TheoryAttribute, ITraitAttribute;
