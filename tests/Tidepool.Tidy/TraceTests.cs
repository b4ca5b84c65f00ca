using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;

namespace Tidepool.Tidy;

/// <summary>Pages that name functions name functions that exist.</summary>
public sealed partial class TraceTests
{
    public static TheoryData<string> Pages() =>
        ["docs/trace.md", "ARCHITECTURE.md", .. Repository.Under("docs/design/", ".md").Where(page => Member().IsMatch(Repository.Read(page)))];

    [Theory]
    [MemberData(nameof(Pages))]
    public void Functions_that_the_page_names_exist(string page)
    {
        ILookup<string, INamedTypeSymbol> types = Core.AllTypes.ToLookup(type => type.Name);
        var names = (from Match match in Member().Matches(Repository.Read(page))
                     select (type: match.Groups["type"].Value, member: match.Groups["member"].Value)).Distinct().ToArray();
        Assert.NotEmpty(names);
        Problems.AssertNone(
            from name in names
            where !IsProject($"{name.type}.{name.member}")
            where !types[name.type].Concat(PlatformTypes(name.type)).Any(type => Has(type, name.member))
            select $"{name.type}.{name.member}",
            $"{page} names members that do not exist:");
    }

    private static bool Has(INamedTypeSymbol type, string member) =>
        type.GetMembers(member).Length > 0 || (type.BaseType is { } parent && Has(parent, member));

    /// <summary>Types of the platform that the pages mention by their short names.</summary>
    private static IEnumerable<INamedTypeSymbol> PlatformTypes(string name) =>
        from space in new[] { "System", "System.Threading", "System.Buffers", "System.Runtime.CompilerServices", "System.Runtime.InteropServices" }
        from arity in new[] { "", "`1" }
        let type = Core.Compilation.GetTypeByMetadataName($"{space}.{name}{arity}")
        where type is not null
        select type;

    private static bool IsProject(string name) => Repository.Files.Any(file => Path.GetFileName(file) == name + ".csproj");

    [GeneratedRegex(@"`(?<type>[A-Z]\w*)(<[^>`]*>)?\.(?<member>[A-Z]\w*)(<[^>`]*>)?(\([^`]*\))?`")]
    private static partial Regex Member();
}
