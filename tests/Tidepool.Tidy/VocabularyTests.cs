using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>One word for one idea: names use the words of docs/words.md, public ones no synonym of them, others no retired word.</summary>
public sealed partial class VocabularyTests
{
    private const string Dictionary = "docs/words.md";

    private static readonly Dictionary<string, string> InsteadInTypes = ReadInstead("not in names of public types");

    private static readonly Dictionary<string, string> InsteadOfVerbs = ReadInstead("not the verb of a public member");

    /// <summary>
    /// Names that are free of the rules. The one in small letters mirrors an option of tidepool.h, whose name is public; what
    /// <c>OwnerReuse</c> is about is called an owner by the platform.
    /// </summary>
    private static readonly HashSet<string> Free = ["ThreadHandle", "GetThreadHandle", "OwnerReuse", "guard_rate"];

    private static IEnumerable<INamedTypeSymbol> PublicTypes => Library.All.SelectMany(library => library.PublicTypes);

    [Fact]
    public void Public_types_use_the_words_of_the_project()
    {
        Problems.AssertNone(
            from type in PublicTypes
            where !Free.Contains(type.Name)
            from word in Words(type.Name)
            where InsteadInTypes.ContainsKey(word)
            select $"{type.ToDisplayString()}: say {InsteadInTypes[word]}, not {word}",
            "Synonyms in the names of public types:");
    }

    [Fact]
    public void Public_members_use_the_verbs_of_the_project()
    {
        Problems.AssertNone(
            from member in OwnPublicMembers()
            let verb = Verb(member.Name)
            where !Free.Contains(member.Name) && InsteadOfVerbs.ContainsKey(verb)
            select $"{member.ToDisplayString()}: say {InsteadOfVerbs[verb]}, not {verb}",
            "Synonyms of the verbs Rent, Return and Trim:");
    }

    [Fact]
    public void A_byte_limit_is_called_a_budget()
    {
        Problems.AssertNone(
            from member in OwnPublicMembers()
            let words = Words(member.Name)
            where words.Contains("Limit") || (words[0] == "Max" && words.Contains("Bytes"))
            select $"{member.ToDisplayString()}: say Budget",
            "Limits in bytes with another name than Budget:");
    }

    [Fact]
    public void Public_namespaces_are_those_of_the_product()
    {
        Problems.AssertNone(
            PublicTypes.Where(type => type.ContainingNamespace.ToDisplayString() is not ("Tidepool" or "Tidepool.Data"))
                .Where(type => !RegistersServices(type))
                .Select(type => type.ToDisplayString()),
            "Public types outside the namespaces Tidepool and Tidepool.Data (folders are for readers):");
    }

    /// <summary>Extensions that register services stand where every program looks for them.</summary>
    private static bool RegistersServices(INamedTypeSymbol type) =>
        type.IsStatic && type.ContainingNamespace.ToDisplayString() == "Microsoft.Extensions.DependencyInjection"
            && type.GetMembers().OfType<IMethodSymbol>().Where(Core.IsVisible).All(static method => method.IsExtensionMethod);

    [Fact]
    public void Names_use_no_retired_word()
    {
        (string[] words, string say)[] retired = [.. from row in Table("retired") from word in List(row[0]) select (Words(word), row[1])];
        Assert.True(retired.Length > 20, $"{Dictionary} retires only {retired.Length} words");
        Problems.AssertNone(
            from name in DeclaredNames()
            where !Free.Contains(name.text)
            let words = Words(name.text)
            from word in retired
            where Holds(words, word.words)
            select $"{name.place}: {name.text}: say {word.say}, not {string.Concat(word.words)}",
            $"Words that {Dictionary} retires, in the names of types and members:");
    }

    [Fact]
    public void The_dictionary_explains_each_word_once()
    {
        string[] words = [.. from heading in new[] { "word", "verb" } from row in Table(heading) from word in List(row[0]) select word];
        Assert.True(words.Length > 50, $"only {words.Length} words are explained");
        Problems.AssertNone(
            words.GroupBy(word => word).Where(group => group.Count() > 1).Select(group => group.Key),
            $"Words that {Dictionary} explains twice:");
        Problems.AssertNone(
            from row in Table("retired")
            from word in List(row[0])
            where words.Contains(word)
            where word is not "Discard" // an inside word of the native library, which the rule does not read
            select word,
            $"Words that {Dictionary} explains and retires:");
    }

    /// <summary>Names of types, methods, properties, fields, events and enum members that the sources of the libraries declare.</summary>
    private static IEnumerable<(string text, string place)> DeclaredNames() =>
        from file in Repository.Under("src/", ".cs")
        where Shipped.Any(folder => file.StartsWith(folder, StringComparison.Ordinal))
        from node in CSharpSyntaxTree.ParseText(Repository.Read(file), Core.ParseOptions).GetRoot().DescendantNodes()
        let name = NameOf(node)
        where name.ValueText is { Length: > 0 }
        select (name.ValueText, $"{file}:{name.GetLocation().GetLineSpan().StartLinePosition.Line + 1}");

    private static readonly string[] Shipped =
    [
        "src/Tidepool/", "src/Tidepool.Native/", "src/Tidepool.Extensions/", "src/Tidepool.AspNetCore/",
        "src/Tidepool.EntityFrameworkCore/",
    ];

    private static SyntaxToken NameOf(SyntaxNode node) => node switch
    {
        BaseTypeDeclarationSyntax type => type.Identifier,
        DelegateDeclarationSyntax type => type.Identifier,
        MethodDeclarationSyntax method => method.Identifier,
        LocalFunctionStatementSyntax function => function.Identifier,
        PropertyDeclarationSyntax property => property.Identifier,
        EventDeclarationSyntax declared => declared.Identifier,
        EnumMemberDeclarationSyntax value => value.Identifier,
        VariableDeclaratorSyntax { Parent.Parent: BaseFieldDeclarationSyntax } field => field.Identifier,
        _ => default,
    };

    /// <summary>Whether the words follow each other in a name.</summary>
    private static bool Holds(string[] name, string[] words) => Enumerable.Range(0, Math.Max(0, name.Length - words.Length + 1))
        .Any(
            start =>
                words.Select((word, i) => string.Equals(word, name[start + i], StringComparison.OrdinalIgnoreCase)).All(equal => equal));

    /// <summary>The cells of every table of the dictionary whose first heading, or whose column, has this name.</summary>
    private static IEnumerable<string[]> Table(string heading)
    {
        string[] columns = [];
        foreach (string line in Repository.Read(Dictionary).Split('\n'))
        {
            string[] cells = line.StartsWith('|') ? [.. line.Trim().Trim('|').Split('|').Select(cell => cell.Trim())] : [];
            if (cells.Length == 0 || columns.Length == 0)
            {
                columns = cells;
            }
            else if (columns.Contains(heading) && !cells[0].StartsWith("---", StringComparison.Ordinal))
            {
                yield return cells;
            }
        }
    }

    private static Dictionary<string, string> ReadInstead(string column)
    {
        var instead =
            (from row in Table(column) from synonym in List(row[2]) select (synonym, say: row[0]))
                .ToDictionary(pair => pair.synonym, pair => pair.say);
        Assert.NotEmpty(instead);
        return instead;
    }

    private static string[] List(string cell) => cell.Split(", ", StringSplitOptions.RemoveEmptyEntries);

    /// <summary>Members that we named: no overrides, nothing that implements an interface of the platform.</summary>
    private static IEnumerable<ISymbol> OwnPublicMembers() =>
        from type in PublicTypes
        from member in type.GetMembers()
        where Core.IsVisible(member) && !member.IsOverride && !member.IsImplicitlyDeclared && !ImplementsInterface(type, member)
        where member is IPropertySymbol or IFieldSymbol or IEventSymbol or IMethodSymbol { MethodKind: MethodKind.Ordinary }
        select member;

    private static bool ImplementsInterface(INamedTypeSymbol type, ISymbol member) =>
        type.AllInterfaces.SelectMany(i => i.GetMembers())
            .Any(declared => SymbolEqualityComparer.Default.Equals(type.FindImplementationForInterfaceMember(declared), member));

    /// <summary>"Get" only when it is the whole verb: accessors such as GetStatistics are free of the rule.</summary>
    private static string Verb(string name)
    {
        string[] words = [.. Words(name).Where(word => word is not ("Try" or "Async"))];
        return words.Length == 0 || (words[0] == "Get" && words.Length > 1) ? "" : words[0];
    }

    private static string[] Words(string name) => [.. Word().Matches(name).Select(match => match.Value)];

    [GeneratedRegex(@"[A-Z][a-z0-9]*|(?<![A-Za-z0-9])[a-z0-9]+")]
    private static partial Regex Word();
}
