using Tidepool.Labs;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Data.Tests.Support;

/// <summary>A test on a real MariaDB; skipped, with the line that installs it, where there is none.</summary>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Data.Tests")]
internal sealed class MySqlFactAttribute : FactAttribute, ITraitAttribute
{
    public MySqlFactAttribute() => (Skip, Timeout) = (MariaDbServer.Missing, PostgresFactAttribute.Patience);
}

/// <inheritdoc cref="MySqlFactAttribute"/>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Data.Tests")]
internal sealed class MySqlTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public MySqlTheoryAttribute() => (Skip, Timeout) = (MariaDbServer.Missing, PostgresFactAttribute.Patience);
}
