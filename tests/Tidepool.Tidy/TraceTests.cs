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

    [Fact]
    public void Functions_of_the_native_library_that_the_trace_names_exist()
    {
        string page = Repository.Read("docs/trace.md");
        string native = page[page.IndexOf("# One allocation and one remote free", StringComparison.Ordinal)..];
        string sources = string.Concat(Repository.Under("native/", ".h").Concat(Repository.Under("native/", ".cpp"))
            .Where(file => file.StartsWith("native/src/", StringComparison.Ordinal) || file.StartsWith("native/include/", StringComparison.Ordinal))
            .Select(Repository.Read));
        string[] names = [.. NativeFunction().Matches(native).Select(match => match.Groups[1].Value).Distinct()];
        Assert.True(names.Length > 20, $"only {names.Length} functions are named");
        Problems.AssertNone(
            from name in names
            where !Regex.IsMatch(sources, $@"(^|[\s*])({name}\(|class {name}\b)", RegexOptions.Multiline)
            select name,
            "docs/trace.md names native functions that do not exist:");
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

    /// <summary>Backticked names in the style of the native library, and its classes.</summary>
    [GeneratedRegex(@"`([a-z]\w*_\w*|allocate|deallocate|pop|flush|carve|collect|purge|[A-Z]\w+)(\([^`]*\))?`")]
    private static partial Regex NativeFunction();
}
