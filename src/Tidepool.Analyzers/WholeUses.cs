using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>Rented arrays that are used to their end, which lies behind what was asked for.</summary>
internal sealed class WholeUses(FlowGraph graph)
{
    /// <summary>An array is passed: as a whole, to something that reads all of it, fills all of it, or is not known.</summary>
    internal void Pass(Value value, IArgumentOperation argument, bool isReader)
    {
        if (!value.HasSite || argument.Parameter?.ContainingSymbol is not IMethodSymbol method)
        {
            return;
        }

        Site site = graph.Sites[value.Site];
        bool isAsync = method.Name.EndsWith("Async", StringComparison.Ordinal);
        site.IsNeededOnHeap |= isAsync || (value.IsRental && !isReader); // readers have forms that take spans
        if (site.Kind != RentalKind.Array || !site.IsRentedHere || !IsWhole(argument.Value))
        {
            return;
        }

        if (IsToldHowMuch(method))
        {
            return;
        }

        if (method.Name is "NextBytes" or "Fill" or "GetBytes" or "ReadExactly" or "ReadExactlyAsync" or "Clear" or "GetNonZeroBytes")
        {
            site.IsWholeMeant = true;
        }
        else if (ReadsAll(method, argument.Parameter))
        {
            Add(site, argument.Value);
        }
    }

    internal void Enumerate(Value value, IOperation array)
    {
        if (value.IsRental && graph.Sites[value.Site] is { Kind: RentalKind.Array, IsRentedHere: true } site && IsWhole(array)
            && !EndsEarly(array.Syntax))
        {
            Add(site, array);
        }
    }

    /// <summary>Whether the body of the loop may leave it in front of the requested length.</summary>
    private static bool EndsEarly(SyntaxNode enumerated)
    {
        CommonForEachStatementSyntax? loop = enumerated.FirstAncestorOrSelf<CommonForEachStatementSyntax>();
        return loop is not null
            && loop.Statement.DescendantNodesAndSelf(
                static node => node is not (AnonymousFunctionExpressionSyntax or LocalFunctionStatementSyntax)).Any(
                node => node is ReturnStatementSyntax or GotoStatementSyntax || (node is BreakStatementSyntax && TargetOf(node) == loop));
    }

    private static SyntaxNode? TargetOf(SyntaxNode leaving) => leaving.Ancestors().FirstOrDefault(
        node =>
            node is CommonForEachStatementSyntax or ForStatementSyntax or WhileStatementSyntax or DoStatementSyntax
                or SwitchStatementSyntax);

    private static void Add(Site site, IOperation array)
    {
        while (array is IConversionOperation { IsImplicit: true } conversion)
        {
            array = conversion.Operand;
        }

        if (!HasFixedLength(site) && !site.WholeUses.Contains(array.Syntax))
        {
            site.WholeUses.Add(array.Syntax);
        }
    }

    internal void Read(Value value, IPropertyReferenceOperation property)
    {
        if (value.IsRental)
        {
            Site site = graph.Sites[value.Site];
            site.IsWholeMeant |= property.Property.Name is "Length" or "LongLength";
            site.IsNeededOnHeap |= site.Kind == RentalKind.Lease && property.Property.Name is not ("Span" or "Length" or "IsActive");
        }
    }

    /// <summary>The array itself, or a view of all of it that the compiler makes.</summary>
    private static bool IsWhole(IOperation argument) => argument switch
    {
        IConversionOperation { IsImplicit: true } conversion => IsWhole(conversion.Operand),
        ILocalReferenceOperation { Type: IArrayTypeSymbol } => true,
        _ => false,
    };

    private static bool IsToldHowMuch(IMethodSymbol method) => method.Parameters.Any(
        other =>
            other.Type.SpecialType is SpecialType.System_Int32 or SpecialType.System_Int64 || other.Type.Name is "Range" or "Index");

    private static bool ReadsAll(IMethodSymbol method, IParameterSymbol parameter)
    {
        if (!Readers.IsReader(Root(method)))
        {
            return false;
        }

        string type = Names.Full(method.ContainingType.OriginalDefinition);
        return parameter.Ordinal <= 1 && method.Name switch
        {
            "Write" or "WriteAsync" or "WriteAllBytes" or "WriteAllBytesAsync" or "AppendAllBytes" or "Send" or "SendAsync" => true,
            "GetString" or "GetCharCount" or "ToBase64String" or "ToHexString" or "ToHexStringLower" or "ComputeHash" or "HashData" => true,
            "AppendData" or "FixedTimeEquals" => true,
            ".ctor" => type == "System.String",
            "First" or "FirstOrDefault" or "Any" when !method.Parameters.Any(one => one.Type.TypeKind == TypeKind.Delegate) => false,
            _ => type == "System.Linq.Enumerable" && parameter.Ordinal == 0,
        };
    }

    private static IMethodSymbol Root(IMethodSymbol method)
    {
        IMethodSymbol root = (method.ReducedFrom ?? method).OriginalDefinition;
        while (root.OverriddenMethod is { } overridden)
        {
            root = overridden.OriginalDefinition;
        }

        return root;
    }

    /// <summary>A constant that is a power of two gets an array of just that length, if not by promise.</summary>
    private static bool HasFixedLength(Site site) =>
        site.Origin is IInvocationOperation { Arguments: { Length: > 0 } arguments }
        && arguments[0].Value.ConstantValue is { HasValue: true, Value: int length and >= 16 } && (length & (length - 1)) == 0;
}
