using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;

namespace Tidepool.Tidy;

/// <summary>Pages that name functions name functions that exist.</summary>
public sealed partial class TraceTests
{
    private static readonly string[] Naming =
    [
        "docs/trace.md",
        "ARCHITECTURE.md",
        .. Repository.Under("docs/design/", ".md").Where(page => Member().IsMatch(Repository.Read(page))),
    ];

    public static TheoryData<string> Pages() => [.. Naming];

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

    /// <summary>Pages with numbered steps that name functions.</summary>
    public static TheoryData<string> Walks() => [.. Naming.Where(page => Steps(page).Any())];

    [Theory]
    [MemberData(nameof(Walks))]
    public void A_function_of_a_step_is_called_by_one_before_it(string page)
    {
        int calls = 0;
        var problems = new List<string>();
        foreach (var section in Steps(page).GroupBy(step => step.section))
        {
            var before = new List<ISymbol>();
            foreach (string[] step in section.Select(step => step.names))
            {
                for (int i = 0; i < step.Length; i++)
                {
                    ISymbol[] named = [.. Functions(step[i])];
                    // A step may begin anew with what the program calls next.
                    if (named.Length > 0 && before.Count > 0 && (i > 0 || !named.Any(Core.IsVisible)))
                    {
                        calls++;
                        if (!before.Any(caller => CallGraph.Calls(caller, named)))
                        {
                            problems.Add($"{page}, {section.Key}: nothing that is named before {step[i]} calls it");
                        }
                    }
                    before.AddRange(named);
                }
            }
        }
        Assert.True(calls > 0, $"{page} has no step to check");
        Problems.AssertNone(
            problems,
            "A step names a function that one of the functions before it calls, itself or by another member of its type:");
    }

    /// <summary>The names in each numbered step of a walk, in order, with the heading above it: "One rent", "One return".</summary>
    private static IEnumerable<(string section, string[] names)> Steps(string page) =>
        from Match section in Section().Matches(Repository.Read(page))
        where page == "docs/trace.md" || section.Groups["heading"].Value.StartsWith("One ", StringComparison.Ordinal)
        from Match step in Step().Matches(section.Groups["text"].Value)
        let names = Member().Matches(step.Value).Select(match => $"{match.Groups["type"].Value}.{match.Groups["member"].Value}").ToArray()
        where names.Length > 0
        select (section.Groups["heading"].Value, names);

    /// <summary>Methods and properties of the core with this name, their own or inherited ones; none for anything else.</summary>
    private static IEnumerable<ISymbol> Functions(string name)
    {
        string[] parts = name.Split('.');
        foreach (INamedTypeSymbol type in Core.AllTypes.Where(type => type.Name == parts[0]))
        {
            for (INamedTypeSymbol? declaring = type; declaring is not null; declaring = declaring.BaseType)
            {
                ISymbol[] found = [.. declaring.GetMembers(parts[1]).Where(member => member is IMethodSymbol or IPropertySymbol)];
                foreach (ISymbol member in found)
                {
                    yield return member.OriginalDefinition;
                }
                if (found.Length > 0)
                {
                    break;
                }
            }
        }
    }

    [Fact]
    public void Functions_of_the_native_library_that_the_trace_names_exist()
    {
        string page = Repository.Read("docs/trace.md");
        string native = page[page.IndexOf("# One allocation and one remote free", StringComparison.Ordinal)..];
        string sources = string.Concat(Repository.Under("native/", ".h").Concat(Repository.Under("native/", ".cpp"))
            .Where(
                file => file.StartsWith("native/src/", StringComparison.Ordinal)
                    || file.StartsWith("native/include/", StringComparison.Ordinal))
            .Select(Repository.Read));
        string[] names = [.. NativeFunction().Matches(native).Select(match => match.Groups[1].Value).Distinct()];
        Assert.True(names.Length > 20, $"only {names.Length} functions are named");
        Problems.AssertNone(
            from name in names
            where !Regex.IsMatch(sources, $@"(^|[\s*])({name}\(|class {name}\b)", RegexOptions.Multiline)
            select name,
            "docs/trace.md names native functions that do not exist:");
    }

    [Fact]
    public void A_native_function_of_a_step_is_called_by_one_before_it()
    {
        string page = Repository.Read("docs/trace.md");
        string native = page[page.IndexOf("# One allocation and one remote free", StringComparison.Ordinal)..];
        int calls = 0;
        var problems = new List<string>();
        var earlier = new HashSet<string>();
        foreach (Match section in Section().Matches(native))
        {
            var before = new List<string>();
            foreach (Match step in Step().Matches(section.Groups["text"].Value))
            {
                string[] names =
                    [.. NativeFunction().Matches(step.Value).Select(match => match.Groups[1].Value).Where(NativeCallGraph.Defines)];
                for (int i = 0; i < names.Length; i++)
                {
                    // A step may begin anew with a function of an earlier section.
                    if (before.Count > 0 && !before.Contains(names[i]) && !(i == 0 && earlier.Contains(names[i])))
                    {
                        calls++;
                        if (!before.Any(caller => NativeCallGraph.Calls(caller, names[i])))
                        {
                            problems.Add($"{section.Groups["heading"].Value}: nothing that is named before {names[i]} calls it");
                        }
                    }
                    before.Add(names[i]);
                }
            }
            earlier.UnionWith(before);
        }
        Assert.True(calls > 20, $"only {calls} calls are checked");
        Problems.AssertNone(
            problems,
            "A step of docs/trace.md names a function that one of the functions before it calls, itself or by another one of its file:");
    }

    private static bool Has(INamedTypeSymbol type, string member) =>
        type.GetMembers(member).Length > 0 || (type.BaseType is { } parent && Has(parent, member));

    /// <summary>Types of the platform that the pages mention by their short names.</summary>
    private static IEnumerable<INamedTypeSymbol> PlatformTypes(string name) =>
        from space in PlatformSpaces
        from arity in new[] { "", "`1" }
        let type = Core.Compilation.GetTypeByMetadataName($"{space}.{name}{arity}")
        where type is not null
        select type;

    private static readonly string[] PlatformSpaces =
        ["System", "System.Threading", "System.Buffers", "System.Runtime.CompilerServices", "System.Runtime.InteropServices"];

    private static bool IsProject(string name) => Repository.Files.Any(file => Path.GetFileName(file) == name + ".csproj");

    [GeneratedRegex(@"`(?<type>[A-Z]\w*)(<[^>`]*>)?\.(?<member>[A-Z]\w*)(<[^>`]*>)?(\([^`]*\))?`")]
    private static partial Regex Member();

    [GeneratedRegex(@"^##+ (?<heading>.+)\n(?<text>(?:(?!#).*\n)*)", RegexOptions.Multiline)]
    private static partial Regex Section();

    [GeneratedRegex(@"^\d+\. .*\n(?:[ \t]+\S.*\n)*", RegexOptions.Multiline)]
    private static partial Regex Step();

    /// <summary>Backticked names in the style of the native library, and its classes.</summary>
    [GeneratedRegex(@"`([a-z]\w*_\w*|allocate|deallocate|pop|flush|carve|collect|purge|[A-Z]\w+)(\([^`]*\))?`")]
    private static partial Regex NativeFunction();
}
