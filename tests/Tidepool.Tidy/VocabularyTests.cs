using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;

namespace Tidepool.Tidy;

/// <summary>One word for one idea: public names use the words of ARCHITECTURE.md and no synonym of them.</summary>
public sealed partial class VocabularyTests
{
    private static readonly Dictionary<string, string> InsteadInTypes = new()
    {
        ["Manager"] = "Pool",
        ["Allocator"] = "Pool",
        ["Provider"] = "Pool",
        ["Owner"] = "Lease",
        ["Handle"] = "Lease",
        ["Guard"] = "Lease",
        ["Wrapper"] = "Lease",
        ["Arena"] = "Scope",
        ["Backend"] = "Source",
        ["Cache"] = "Tier",
        ["Bucket"] = "Tier",
        ["Store"] = "Tier",
        ["Token"] = "Ticket",
        ["Cookie"] = "Ticket",
        ["Limit"] = "Budget",
        ["Limits"] = "Budget",
    };

    private static readonly Dictionary<string, string> InsteadOfVerbs = new()
    {
        ["Get"] = "Rent",
        ["Take"] = "Rent",
        ["Acquire"] = "Rent",
        ["Borrow"] = "Rent",
        ["Lease"] = "Rent",
        ["Lend"] = "Rent",
        ["Release"] = "Return",
        ["Recycle"] = "Return",
        ["Prune"] = "Trim",
        ["Evict"] = "Trim",
        ["Shrink"] = "Trim",
    };

    /// <summary>Words that are free of the rule as a whole name.</summary>
    private static readonly HashSet<string> Free = ["ThreadHandle", "GetThreadHandle"];

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
            PublicTypes.Where(type => type.ContainingNamespace.ToDisplayString() is not ("Tidepool" or "Tidepool.Data")).Select(type => type.ToDisplayString()),
            "Public types outside the namespaces Tidepool and Tidepool.Data (folders are for readers):");
    }

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

    [GeneratedRegex(@"[A-Z][a-z0-9]*|^[a-z0-9]+")]
    private static partial Regex Word();
}
