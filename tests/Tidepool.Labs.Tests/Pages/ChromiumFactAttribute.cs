using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Pages;

/// <summary>A fact that opens a page in a browser: skipped, with the line that installs it, where it is not there.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class ChromiumFactAttribute : FactAttribute, ITraitAttribute
{
    public ChromiumFactAttribute() => Skip = Chromium.Missing ?? (HtmlReport.PackedPlots() is null
        ? "This build has no plots: apt-get install nodejs npm, then build again"
        : null);
}
