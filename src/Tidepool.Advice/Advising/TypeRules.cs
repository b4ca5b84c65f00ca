namespace Tidepool.Advice;

/// <summary>What a type name says of its objects.</summary>
internal static class TypeRules
{
    /// <summary>The bytes of an array before its elements.</summary>
    public const int ArrayHeader = 24;

    /// <summary>An array of which not even the elements are known.</summary>
    public const string UnknownArray = "?[]";

    private static readonly Dictionary<string, (string Keyword, int Bytes)> Plain = new(StringComparer.Ordinal)
    {
        ["System.Byte"] = ("byte", 1), ["System.SByte"] = ("sbyte", 1), ["System.Boolean"] = ("bool", 1), ["System.Char"] = ("char", 2),
        ["System.Int16"] = ("short", 2), ["System.UInt16"] = ("ushort", 2), ["System.Int32"] = ("int", 4), ["System.UInt32"] = ("uint", 4),
        ["System.Single"] = ("float", 4), ["System.Int64"] = ("long", 8), ["System.UInt64"] = ("ulong", 8),
        ["System.Double"] = ("double", 8), ["System.Decimal"] = ("decimal", 16), ["System.Guid"] = ("Guid", 16),
        ["System.DateTime"] = ("DateTime", 8), ["System.TimeSpan"] = ("TimeSpan", 8),
    };

    /// <summary>Whether objects of the type are arrays.</summary>
    public static bool IsArray(string type) => type.EndsWith("[]", StringComparison.Ordinal);

    /// <summary>The element type of an array without references, as C# writes it; null for all other types.</summary>
    public static (string Keyword, int Bytes)? PlainElement(string type) =>
        IsArray(type) && Plain.TryGetValue(type[..^2], out var element) ? element : null;

    /// <summary>Whether the compiler or the platform makes objects of the type behind the program's back: closures, tasks, boxes.</summary>
    public static bool IsHidden(string type) =>
        type.Contains("<>c", StringComparison.Ordinal) || type.Contains("AsyncStateMachineBox", StringComparison.Ordinal)
        || type.StartsWith("System.Threading.Tasks.", StringComparison.Ordinal)
        || type.StartsWith("System.Action", StringComparison.Ordinal)
        || type.StartsWith("System.Func`", StringComparison.Ordinal);

    /// <summary>A type as C# writes it: generic arguments in angle brackets, no namespaces.</summary>
    public static string Short(string type)
    {
        if (type.Contains("::", StringComparison.Ordinal))
        {
            return type; // of C++
        }

        string name = type;
        int bracket = name.IndexOf('[', StringComparison.Ordinal);
        string suffix = IsArray(name) ? "[]" : "";
        if (suffix.Length > 0)
        {
            name = name[..^2];
            return (Plain.TryGetValue(name, out var plain) ? plain.Keyword : Short(name)) + suffix;
        }

        string outer = bracket > 0 ? name[..bracket] : name;
        int tick = outer.IndexOf('`', StringComparison.Ordinal);
        outer = tick > 0 ? outer[..tick] : outer;
        return outer[(outer.LastIndexOf('.') + 1)..].Replace('+', '.') + (bracket > 0 || tick > 0 ? "<...>" : "");
    }
}
