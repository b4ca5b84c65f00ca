using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Native.Tests.Support;

namespace Tidepool.Native.Tests.Interop;

/// <summary>The declarations for .NET are those of tidepool.h: functions, types, layout and values.</summary>
public sealed class HeaderTests
{
    private const BindingFlags All =
        BindingFlags.Static | BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.DeclaredOnly;

    private static readonly Header C = Header.Read();

    private static readonly Dictionary<string, MethodInfo> Declared =
        typeof(NativeMethods).GetMethods(All).Where(m => m.Name.StartsWith("tp_", StringComparison.Ordinal)).ToDictionary(m => m.Name);

    [Xunit.Fact]
    public void The_header_was_read()
    {
        Assert.True(C.Functions.Count > 40, $"{C.Functions.Count} functions");
        int declared = File.ReadLines(Path.Combine(NativeLibraryFiles.Root, "native", "include", "tidepool", "tidepool.h"))
            .Count(line => line.StartsWith("TP_EXPORT ", StringComparison.Ordinal));
        Assert.Equal(declared, C.Functions.Count);
        Assert.Contains(
            C.Functions,
            f => f is
            {
                Name: "tp_malloc_batch",
                Type: "size_t",
                Parameters: [("size_t", "size"), ("size_t", "count"), ("void**", "blocks")],
            });
        Assert.Equal(
            ["tp_class_statistics", "tp_heap_options", "tp_pool_options", "tp_statistics"],
            C.Structs.Keys.Order(StringComparer.Ordinal));
        Assert.Equal(["tp_misuse", "tp_option"], C.Enums.Keys.Order(StringComparer.Ordinal));
    }

    [Xunit.Fact]
    public void Every_function_of_the_header_is_declared_and_no_other() =>
        Assert.Equal(C.Functions.Select(f => f.Name).Order(StringComparer.Ordinal), Declared.Keys.Order(StringComparer.Ordinal));

    [Xunit.Fact]
    public void Results_and_parameters_are_those_of_the_header()
    {
        foreach (HeaderFunction function in C.Functions)
        {
            MethodInfo method = Declared[function.Name];
            Assert.Equal(
                $"{function.Name}: {function.Type}",
                $"{function.Name}: {TypeInC(method.ReturnType, method.ReturnParameter, function.Type)}");
            Assert.Equal(
                function.Parameters.Select(p => $"{function.Name}: {p.Type} {p.Name}"),
                method.GetParameters().Zip(
                    function.Parameters, (p, c) => $"{function.Name}: {TypeInC(p.ParameterType, p, c.Type)} {p.Name}"));
            Assert.Equal(function.Parameters.Length, method.GetParameters().Length);
        }
    }

    [Xunit.Fact]
    public void Only_the_functions_that_never_wait_go_without_a_transition()
    {
        IEnumerable<string> without = typeof(NativeMethods).GetMethods(All)
            .Where(m => m.IsDefined(typeof(SuppressGCTransitionAttribute)) || Imported(m))
            .Where(m => m.IsDefined(typeof(SuppressGCTransitionAttribute)))
            .Select(
                m => m.Name.StartsWith("tp_", StringComparison.Ordinal) ? m.Name : m.GetCustomAttribute<DllImportAttribute>()!.EntryPoint!)
            .Distinct();
        Assert.Equal(["tp_try_free", "tp_try_malloc"], without.Order(StringComparer.Ordinal));
    }

    [Xunit.Fact]
    public void Structs_have_the_fields_of_the_header_at_its_offsets()
    {
        foreach ((string name, (string Type, string Name)[] fields) in C.Structs)
        {
            Type type = typeof(NativeMethods).Assembly.GetType($"Tidepool.{name}", throwOnError: true)!;
            FieldInfo[] declared = [.. type.GetFields(All).OrderBy(f => Marshal.OffsetOf(type, f.Name))];
            Assert.Equal(
                fields.Select(f => $"{name}: {f.Type} {f.Name}"),
                declared.Zip(fields, (f, c) => $"{name}: {TypeInC(f.FieldType, null, c.Type)} {f.Name}"));
            Assert.Equal(fields.Length, declared.Length);
            Assert.True(type.IsLayoutSequential, name);
        }
    }

    [Xunit.Fact]
    public void Enums_have_the_values_of_the_header()
    {
        foreach ((string name, (string Name, int Value)[] values) in C.Enums)
        {
            Type type = typeof(NativeMethods).Assembly.GetType($"Tidepool.{name}", throwOnError: true)!;
            Assert.Equal(typeof(int), Enum.GetUnderlyingType(type));
            Assert.Equal(
                values.Select(v => $"{v.Name} = {v.Value}"),
                Enum.GetNames(type).Select(n => $"{name}_{n} = {(int)Enum.Parse(type, n)}").OrderBy(
                    t => Array.FindIndex(values, v => t.StartsWith($"{v.Name} ", StringComparison.Ordinal))));
        }
    }

    [Xunit.Fact]
    public void The_version_is_that_of_the_header() => Assert.Equal(NativeMethods.HeaderVersion, C.Version);

    [Fact]
    public void The_library_exports_every_function_of_the_header()
    {
        nint library = NativeLoader.Load();
        Assert.All(C.Functions, f => Assert.True(NativeLibrary.TryGetExport(library, f.Name, out _), f.Name));
        Assert.Equal(C.Version, NativeMethods.tp_version());
    }

    [Fact]
    public unsafe void Structs_are_as_large_as_the_library_thinks()
    {
        // The library refuses a struct_size that it does not know, and takes the size of its own.
        var options = new tp_heap_options { struct_size = (nuint)sizeof(tp_heap_options) };
        tp_heap* heap = NativeMethods.tp_heap_create(&options);
        Assert.True(heap is not null);
        NativeMethods.tp_heap_destroy(heap);
        options.struct_size = 3;
        Assert.True(NativeMethods.tp_heap_create(&options) is null);

        var pool = new tp_pool_options { struct_size = (nuint)sizeof(tp_pool_options), block_size = 100, alignment = 64 };
        tp_pool* blocks = NativeMethods.tp_pool_create(&pool);
        Assert.True(blocks is not null);
        Assert.Equal(128u, NativeMethods.tp_pool_block_size(blocks));
        NativeMethods.tp_pool_destroy(blocks);

        var statistics = new tp_class_statistics { struct_size = (nuint)sizeof(tp_class_statistics) };
        Assert.True(NativeMethods.tp_get_class_statistics(0, &statistics));
        Assert.Equal(NativeMethods.tp_class_size(0), statistics.block_size);
    }

    /// <summary>
    /// The C type that a declaration stands for; <paramref name="wanted"/> decides only where one .NET type serves several C types.
    /// </summary>
    private static string TypeInC(Type type, ParameterInfo? parameter, string wanted)
    {
        if (type.IsFunctionPointer)
        {
            Type[] parameters = type.GetFunctionPointerParameterTypes();
            return parameters is [var kind, var address, var size, var message]
                && kind == typeof(tp_misuse) && address == typeof(void*) && size == typeof(nuint) && message == typeof(byte*)
                && type.GetFunctionPointerReturnType() == typeof(void) ? "tp_misuse_handler" : "another function";
        }

        if (type == typeof(bool))
        {
            return parameter?.GetCustomAttribute<MarshalAsAttribute>()?.Value == UnmanagedType.U1 ? "bool" : "a bool of four bytes";
        }

        if (type == typeof(byte))
        {
            return "bool";
        }

        if (type.IsPointer)
        {
            string inner = TypeInC(type.GetElementType()!, null, string.Empty);
            string text = type == typeof(byte*) ? "char*" : $"{inner}*";
            string bare =
                wanted.Replace("const ", string.Empty, StringComparison.Ordinal).Replace("* const*", "**", StringComparison.Ordinal);
            return bare == text || wanted.Replace("const", string.Empty, StringComparison.Ordinal)
                .Replace(" ", string.Empty, StringComparison.Ordinal) == text
                ? wanted
                : text;
        }

        return type switch
        {
            _ when type == typeof(void) => "void",
            _ when type == typeof(int) => "int",
            _ when type == typeof(uint) => "uint32_t",
            _ when type == typeof(long) => "int64_t",
            _ when type == typeof(nuint) => "size_t",
            _ => type.Name,
        };
    }

    private static bool Imported(MethodInfo method) => method.Attributes.HasFlag(MethodAttributes.PinvokeImpl);
}
