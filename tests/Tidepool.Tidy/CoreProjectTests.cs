using System.Xml.Linq;
using Microsoft.CodeAnalysis;

namespace Tidepool.Tidy;

/// <summary>What the core promises its users: documented, no dependencies, ready for trimming and native AOT.</summary>
public sealed class CoreProjectTests
{
    [Fact]
    public void Every_public_member_has_XML_documentation()
    {
        Problems.AssertNone(
            Library.All.SelectMany(library => library.Compilation.GetDiagnostics())
                .Where(d => d.Id is "CS1591" or "CS1573").Select(d => d.ToString()),
            "Public members without XML documentation:");
        Problems.AssertNone(
            Repository.Files.Where(
                file =>
                    file.StartsWith("src/", StringComparison.Ordinal)
                        && Repository.Read(file).Contains("CS1591", StringComparison.Ordinal)),
            "Nothing in src/ switches the documentation warning off:");
    }

    [Fact]
    public void The_core_has_no_package_dependency()
    {
        XDocument project = XDocument.Load(Repository.Path("src/Tidepool/Tidepool.csproj"));
        Problems.AssertNone(
            project.Descendants().Where(e => e.Name.LocalName is "PackageReference" or "ProjectReference")
                .Where(e => e.Attribute("ReferenceOutputAssembly")?.Value != "false") // the analyzers: packed beside the library
                .Select(e => e.ToString()),
            "src/Tidepool depends on the platform only:");
        Assert.All(
            typeof(BufferPool<>).Assembly.GetReferencedAssemblies(),
            reference => Assert.StartsWith("System.", reference.Name, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("Directory.Build.props", "TreatWarningsAsErrors")]
    [InlineData("Directory.Build.props", "Deterministic")]
    [InlineData("eng/Library.targets", "GenerateDocumentationFile")]
    [InlineData("eng/Library.targets", "IsAotCompatible")]
    public void Build_settings_stand(string file, string property)
    {
        XElement? setting = XDocument.Load(Repository.Path(file)).Descendants(property).SingleOrDefault();
        Assert.Equal("true", setting?.Value);
    }

    [Fact]
    public void Nullable_is_enabled_for_all()
    {
        Assert.Equal("enable", XDocument.Load(Repository.Path("Directory.Build.props")).Descendants("Nullable").Single().Value);
        Problems.AssertNone(
            Repository.Under("src/", ".cs").Where(file => Repository.Read(file).Contains("#nullable disable", StringComparison.Ordinal)),
            "Files in src/ that switch nullable checks off:");
    }
}
