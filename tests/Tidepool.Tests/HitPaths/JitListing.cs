using System.Text.RegularExpressions;

namespace Tidepool.Tests.HitPaths;

/// <summary>What the fully optimized code of one method consists of.</summary>
/// <param name="Instructions">Machine instructions, those of branches to slow paths included.</param>
/// <param name="Calls">Calls, those of slow paths and of write barriers included.</param>
/// <param name="Locked">Operations that lock the bus or a cache line.</param>
internal readonly partial record struct JitListing(int Instructions, int Calls, int Locked)
{
    public static JitListing operator +(JitListing one, JitListing other) =>
        new(one.Instructions + other.Instructions, one.Calls + other.Calls, one.Locked + other.Locked);

    /// <summary>Reads the listings of <c>DOTNET_JitDisasm</c>: the last of each method that is complete and fully optimized.</summary>
    /// <returns>By the method's name without arguments: <c>Tidepool.BufferPool`1:Rent</c>.</returns>
    internal static Dictionary<string, JitListing> Read(string text)
    {
        var found = new Dictionary<string, JitListing>(StringComparer.Ordinal);
        string? method = null;
        JitListing sum = default;
        foreach (string line in text.Split('\n'))
        {
            if (Header().Match(line) is { Success: true } header)
            {
                method = header.Groups["tier"].Value == "Tier1" ? NameOf(header.Groups["method"].Value) : null;
                sum = default;
            }
            else if (method is not null && line.StartsWith("; Total bytes of code", StringComparison.Ordinal))
            {
                found[method] = sum;
                method = null;
            }
            else if (Instruction().Match(line) is { Success: true } instruction)
            {
                sum += Count(instruction.Groups["name"].Value, line);
            }
        }

        return found;
    }

    private static JitListing Count(string name, string line) => name switch
    {
        "align" => default,
        "lock" => new(0, 0, 1), // a prefix, on a line of its own
        "call" => new(1, 1, 0),
        "xchg" when line.Contains("ptr [", StringComparison.Ordinal) => new(1, 0, 1),
        _ => new(1, 0, 0),
    };

    private static string NameOf(string method)
    {
        string name = method[..method.IndexOf('(', StringComparison.Ordinal)];
        while (name.Contains('[', StringComparison.Ordinal))
        {
            name = Arguments().Replace(name, string.Empty); // the innermost ones
        }

        return name;
    }

    [GeneratedRegex(@"^; Assembly listing for method (?<method>\S.*) \((?<tier>\S+)\)\s*$")]
    private static partial Regex Header();

    [GeneratedRegex(@"^ {7}(?<name>[a-z][a-z0-9]*)\b")]
    private static partial Regex Instruction();

    [GeneratedRegex(@"\[[^\[\]]*\]")]
    private static partial Regex Arguments();
}
