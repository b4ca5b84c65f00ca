using System.Text;
using Microsoft.CodeAnalysis;

namespace Tidepool.Tidy;

/// <summary>The public API is recorded as text beside the code, so that every change of it is seen in a review.</summary>
public sealed class PublicApiTests
{
    private const string Accept = "TIDEPOOL_ACCEPT_API";

    private static readonly SymbolDisplayFormat Format = new(
        globalNamespaceStyle: SymbolDisplayGlobalNamespaceStyle.Omitted,
        typeQualificationStyle: SymbolDisplayTypeQualificationStyle.NameAndContainingTypesAndNamespaces,
        genericsOptions: SymbolDisplayGenericsOptions.IncludeTypeParameters
            | SymbolDisplayGenericsOptions.IncludeTypeConstraints
            | SymbolDisplayGenericsOptions.IncludeVariance,
        memberOptions: SymbolDisplayMemberOptions.IncludeParameters
            | SymbolDisplayMemberOptions.IncludeType
            | SymbolDisplayMemberOptions.IncludeModifiers
            | SymbolDisplayMemberOptions.IncludeAccessibility
            | SymbolDisplayMemberOptions.IncludeConstantValue
            | SymbolDisplayMemberOptions.IncludeRef,
        kindOptions: SymbolDisplayKindOptions.IncludeTypeKeyword
            | SymbolDisplayKindOptions.IncludeMemberKeyword,
        parameterOptions: SymbolDisplayParameterOptions.IncludeType
            | SymbolDisplayParameterOptions.IncludeName
            | SymbolDisplayParameterOptions.IncludeModifiers
            | SymbolDisplayParameterOptions.IncludeDefaultValue
            | SymbolDisplayParameterOptions.IncludeExtensionThis,
        propertyStyle: SymbolDisplayPropertyStyle.ShowReadWriteDescriptor,
        miscellaneousOptions: SymbolDisplayMiscellaneousOptions.UseSpecialTypes
            | SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier
            | SymbolDisplayMiscellaneousOptions.AllowDefaultLiteral);

    public static TheoryData<string> Folders => [.. Library.All.Select(library => library.Folder)];

    [Theory]
    [MemberData(nameof(Folders))]
    public void The_public_API_equals_its_recorded_text(string folder)
    {
        string file = folder + "PublicAPI.txt";
        string today = Describe(Library.All.Single(library => library.Folder == folder));
        if (Environment.GetEnvironmentVariable(Accept) == "1")
        {
            File.WriteAllText(Repository.Path(file), today);
        }
        string recorded = File.Exists(Repository.Path(file)) ? Repository.Read(file) : "";
        Problems.AssertSame(
            recorded.Split('\n'),
            today.Split('\n'),
            $"The public API differs from {file}. When that is meant, record it:{Environment.NewLine}"
                + $"  {Accept}=1 dotnet test tests/Tidepool.Tidy -c Release --filter FullyQualifiedName~PublicApi");
        Assert.Equal(recorded, today);
    }

    /// <summary>One line a type, one indented line a member, sorted, so that moving code changes nothing.</summary>
    private static string Describe(Library library)
    {
        var text = new StringBuilder();
        foreach (INamedTypeSymbol type in library.PublicTypes.OrderBy(t => t.ToDisplayString(), StringComparer.Ordinal))
        {
            text.Append(DescribeType(type)).Append('\n');
            IEnumerable<string> members = type.GetMembers()
                .Where(member => Core.IsVisible(member) && IsListed(type, member))
                .Select(member => "    " + type.ToDisplayString() + ": " + member.ToDisplayString(Format))
                .Order(StringComparer.Ordinal);
            foreach (string member in members)
            {
                text.Append(member).Append('\n');
            }
        }
        return text.ToString();
    }

    private static bool IsListed(INamedTypeSymbol type, ISymbol member) => member switch
    {
        INamedTypeSymbol => false,
        IMethodSymbol { AssociatedSymbol: not null } or IMethodSymbol { MethodKind: MethodKind.Destructor } => false,
        IMethodSymbol { MethodKind: MethodKind.Constructor } constructor =>
            type.TypeKind == TypeKind.Class && !type.IsStatic || !constructor.IsImplicitlyDeclared,
        _ => !member.IsImplicitlyDeclared,
    };

    private static string DescribeType(INamedTypeSymbol type)
    {
        var text = new StringBuilder(type.DeclaredAccessibility == Accessibility.Public ? "public " : "protected ");
        if (type.TypeKind == TypeKind.Class)
        {
            text.Append(type.IsStatic ? "static " : type.IsAbstract ? "abstract " : type.IsSealed ? "sealed " : "");
        }
        text.Append(type.ToDisplayString(Format));
        IEnumerable<INamedTypeSymbol> bases = (
            type.TypeKind == TypeKind.Class && type.BaseType is { SpecialType: not SpecialType.System_Object } parent
                ? [parent]
                : Array.Empty<INamedTypeSymbol>())
            .Concat(type.Interfaces.Where(Core.IsVisible).OrderBy(i => i.ToDisplayString(), StringComparer.Ordinal));
        string inherits = string.Join(", ", bases.Select(b => b.ToDisplayString()));
        return inherits.Length == 0 ? text.ToString() : text.Append(" : ").Append(inherits).ToString();
    }
}
