using System.Text;
using System.Text.RegularExpressions;

namespace Tidepool.Advice;

/// <summary>Finds in a stack the frame that its author would change.</summary>
internal static partial class FrameRules
{
    /// <summary>The innermost frame that is not of the platform or of a pool; the innermost of all where there is none.</summary>
    public static StackPlace? UserFrame(IReadOnlyList<StackPlace> stack) =>
        stack.FirstOrDefault(static place => !IsPlatform(place) && !IsTidepool(place)) ?? (stack.Count > 0 ? stack[0] : null);

    /// <summary>Whether a pool made the object because it had none: then it is a miss, not an allocation that a pool could save.</summary>
    public static bool IsPoolMiss(IReadOnlyList<StackPlace> stack) =>
        stack.TakeWhile(static place => IsPlatform(place) || IsTidepool(place)).Any(
            static place => IsTidepool(place) || PoolRent().IsMatch(place.Method));

    /// <summary>The platform's class that made the object for its own use, such as <c>MemoryStream</c>; else null.</summary>
    /// <param name="stack">The stack.</param>
    /// <param name="type">The type of the object.</param>
    public static string? BuilderOf(IReadOnlyList<StackPlace> stack, string type)
    {
        StackPlace[] platform = [.. stack.TakeWhile(IsPlatform)];
        if (platform.Select(static place => Builder().Match(place.Method)).FirstOrDefault(static match => match.Success) is { } match)
        {
            return match.Groups["name"].Value;
        }

        // The class may be part of the caller's code: then its calls tell it, unless another method of the platform makes the array.
        return platform.All(static place => Allocator().IsMatch(place.Method)) && platform.Length < stack.Count
            ? BuilderOf(stack[platform.Length].Makes, type)
            : null;
    }

    /// <summary>The only class that may have made the object; null where there are more, or the program may have made it itself.</summary>
    private static string? BuilderOf(IReadOnlyList<string> made, string type)
    {
        bool MayMake(string one) => TypeRules.IsArray(one) ? one == type || one == TypeRules.UnknownArray : Makes(one, type);
        string[] makers = [.. made.Where(MayMake).Take(2)];
        return makers is [var only] && !TypeRules.IsArray(only) ? only : null;
    }

    /// <summary>A method as its author wrote it: of a state machine or a lambda the method that holds it, and without parameters.</summary>
    public static string Readable(string method)
    {
        int parameters = method.IndexOf('(', StringComparison.Ordinal);
        string name = parameters > 0 ? method[..parameters] : method;
        name = StateMachine().Replace(name, "$1.$2");
        name = Lambda().Replace(name, "$1.$2 (lambda)");
        return LocalFunction().Replace(name, "$1.$2 ($3)").Replace('+', '.').Replace("<Main>$", "Main", StringComparison.Ordinal);
    }

    /// <summary>Whether objects of a type may be what a class of the platform keeps its content in.</summary>
    private static bool Makes(string builder, string type) => builder switch
    {
        nameof(MemoryStream) => type == "System.Byte[]",
        nameof(StringBuilder) => type == "System.Char[]",
        _ => TypeRules.IsArray(type),
    };

    private static bool IsPlatform(StackPlace place) => Platform().IsMatch(place.Module) || place.Module.Length == 0;

    private static bool IsTidepool(StackPlace place) => place.Module is "Tidepool" or "Tidepool.Native" or "Tidepool.Extensions"
        or "Tidepool.AspNetCore" or "Tidepool.EntityFrameworkCore";

    [GeneratedRegex(@"^(System(\..+)?|Microsoft\..+|mscorlib|netstandard|\?)$")]
    private static partial Regex Platform();

    [GeneratedRegex(@"(ArrayPool|MemoryPool|ObjectPool)`1(\[.*\])?\.(Rent|Get)$")]
    private static partial Regex PoolRent();

    [GeneratedRegex(
        @"^System\.(IO\.(?<name>MemoryStream)|Text\.(?<name>StringBuilder)|Buffers\.(?<name>ArrayBufferWriter)`1|"
            + @"Collections\.Generic\.(?<name>List|Dictionary|HashSet|Queue|Stack)`\d)")]
    private static partial Regex Builder();

    [GeneratedRegex(@"^(System\.(GC|Array|Runtime\.CompilerServices\.\w+)\.|\?$)")]
    private static partial Regex Allocator();

    [GeneratedRegex(@"^(.*)\+<<?(\w+)>?\$?>d(?:__\d+)?\.MoveNext$")]
    private static partial Regex StateMachine();

    [GeneratedRegex(@"^(.*)\+<>c(?:__DisplayClass\d+_\d+)?\.<(\w+)>b__[\d_]+$")]
    private static partial Regex Lambda();

    [GeneratedRegex(@"^(.*)\.<<?(\w+)>?\$?>g__(\w+)\|[\d_]+$")]
    private static partial Regex LocalFunction();
}
