using System.Text;
using System.Text.RegularExpressions;

namespace Tidepool.Advice;

/// <summary>What the names of native frames say: whose code it is, and which container allocates.</summary>
internal static partial class NativeFrame
{
    private const string Anonymous = "(anonymous namespace)";

    /// <summary>What a block is called that no container made.</summary>
    public const string Block = "block";

    /// <summary>Whether the frame is of the standard library, or a function that only passes malloc on.</summary>
    public static bool IsLibrary(StackPlace place) =>
        Module().IsMatch(place.Module) || Standard().IsMatch(place.Method) || Wrapper().IsMatch(place.Method);

    /// <summary>The container of the standard library that allocates, as the program names it; <see cref="Block"/> without one.</summary>
    /// <param name="stack">The frames, the innermost first.</param>
    public static string TypeOf(IReadOnlyList<StackPlace> stack) =>
        stack.TakeWhile(IsLibrary).Select(static place => ContainerOf(place.Method)).OfType<string>().LastOrDefault() ?? Block;

    /// <summary>A function's qualified name: without parameters, template arguments of functions and the type that it returns.</summary>
    public static string NameOf(string demangled)
    {
        string text = demangled.Replace(Anonymous, "{anonymous}", StringComparison.Ordinal);
        int end = text.Length;
        int depth = 0;
        int start = 0;
        for (int i = 0; i < text.Length; i++)
        {
            if (IsOperator(text, i))
            {
                int open = text.IndexOf('(', i + "operator".Length + (text.AsSpan(i).StartsWith("operator()") ? 2 : 0));
                end = open < 0 ? text.Length : open;
                break;
            }

            switch (text[i])
            {
                case '<' or '{' or '[':
                    depth++;
                    break;
                case '>' or '}' or ']':
                    depth--;
                    break;
                case ' ' when depth == 0:
                    start = i + 1;
                    break;
                case '(' when depth == 0:
                    end = i;
                    i = text.Length;
                    break;
            }
        }

        return WithoutArguments(text[start..end].TrimStart('*', '&'));
    }

    /// <summary>Leaves out what is in angle brackets: the same code with other types is one site.</summary>
    private static string WithoutArguments(string name)
    {
        var text = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < name.Length; i++)
        {
            if (depth == 0 && IsOperator(name, i))
            {
                return text.Append(name, i, name.Length - i).ToString();
            }

            depth += name[i] == '<' ? 1 : 0;
            if (depth == 0)
            {
                text.Append(name[i]);
            }

            depth -= name[i] == '>' ? 1 : 0;
        }

        return text.ToString();
    }

    private static bool IsOperator(string text, int index) =>
        string.CompareOrdinal(text, index, "operator", 0, 8) == 0 && (index == 0 || text[index - 1] is ':' or ' ')
        && index + 8 < text.Length && !char.IsLetterOrDigit(text[index + 8]) && text[index + 8] != '_';

    private static string? ContainerOf(string method)
    {
        string? name = Container().Match(method) is { Success: true } match ? match.Groups["name"].Value : null;
        return name switch
        {
            null => null,
            "basic_string" => "std::string",
            "_Vector_base" => "std::vector",
            "_List_base" => "std::list",
            "_Deque_base" => "std::deque",
            "_Rb_tree" => "std::map",
            "_Hashtable" => "std::unordered_map",
            "__shared_count" or "__shared_ptr" or "make_shared" or "allocate_shared" => "std::shared_ptr",
            "_Function_handler" or "_Function_base" => "std::function",
            _ => "std::" + name,
        };
    }

    [GeneratedRegex(@"^(libstdc\+\+|libc\+\+|libc\+\+abi|libc|libgcc_s|ld-linux[-\w]*|ld-musl[-\w]*|libpthread)\.so")]
    private static partial Regex Module();

    [GeneratedRegex(@"^(std|__gnu_cxx|__cxxabiv1)::|^operator (new|delete)")]
    private static partial Regex Standard();

    [GeneratedRegex(
        @"^(x|xx|z|ztry|g_|g_try_|_|CRYPTO_|OPENSSL_)?(malloc|calloc|realloc|reallocarray|zalloc|malloc0|try_malloc|strdup|strndup|memdup|"
            + @"aligned_alloc)(_usable)?(_internal)?$")]
    private static partial Regex Wrapper();

    [GeneratedRegex(
        @"^std::(__cxx11::|__debug::|__1::)?(?<name>basic_string|vector|_Vector_base|list|_List_base|forward_list|deque|_Deque_base|"
            + @"map|multimap|set|multiset|_Rb_tree|unordered_map|unordered_multimap|unordered_set|unordered_multiset|_Hashtable|"
            + @"make_shared|allocate_shared|__shared_count|__shared_ptr|shared_ptr|function|_Function_handler|_Function_base)\b")]
    private static partial Regex Container();
}
