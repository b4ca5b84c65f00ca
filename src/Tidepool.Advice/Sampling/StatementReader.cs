using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text.RegularExpressions;

namespace Tidepool.Advice;

/// <summary>
/// Finds what a statement may allocate, by its calls. Optimized code has the allocation of a callee in its caller, and then no frame of a
/// stack names the class of the platform that made it.
/// </summary>
internal sealed partial class StatementReader : IDisposable
{
    private const int Depth = 3; // calls within the assembly that are followed: short methods become part of their callers too
    private const byte TwoBytes = 0xFE;
    private const string UnknownArray = "?[]";

    private static readonly OpCode[] Short = OpCodesOf(1);
    private static readonly OpCode[] Long = OpCodesOf(2);

    private readonly Dictionary<string, PEReader?> _assemblies = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Path, int Token, int Start), IReadOnlyList<string>> _found = [];

    /// <summary>
    /// The classes of the platform that the statement makes grow, such as <c>MemoryStream</c>, and the arrays that it makes itself, such as
    /// <c>System.Byte[]</c>, or <c>?[]</c>. Those of the whole method where it has none: a compiler moves what is rare behind the rest.
    /// </summary>
    /// <param name="assemblyPath">The assembly.</param>
    /// <param name="token">The token of the method.</param>
    /// <param name="start">Where the statement begins in the method's own code.</param>
    /// <param name="end">Where the next one begins.</param>
    public IReadOnlyList<string> MadeBy(string assemblyPath, int token, int start, int end)
    {
        if (!_found.TryGetValue((assemblyPath, token, start), out IReadOnlyList<string>? made))
        {
            _found.Add((assemblyPath, token, start), made = Read(assemblyPath, token, start, end));
        }

        return made;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (PEReader? assembly in _assemblies.Values)
        {
            assembly?.Dispose();
        }
    }

    private string[] Read(string assemblyPath, int token, int start, int end)
    {
        try
        {
            if (MetadataTokens.Handle(token) is not { Kind: HandleKind.MethodDefinition } handle
                || AssemblyOf(assemblyPath) is not { } file)
            {
                return [];
            }

            SortedSet<string> found = new(StringComparer.Ordinal);
            Collect(file, file.GetMetadataReader(), (MethodDefinitionHandle)handle, start, end, Depth, found);
            if (found.Count == 0)
            {
                Collect(file, file.GetMetadataReader(), (MethodDefinitionHandle)handle, 0, int.MaxValue, Depth, found);
            }

            return [.. found];
        }
        catch (Exception failure) when (failure is BadImageFormatException or InvalidOperationException or IOException)
        {
            return []; // another build of the assembly: the site counts as one of the program's own
        }
    }

    private PEReader? AssemblyOf(string path)
    {
        if (!_assemblies.TryGetValue(path, out PEReader? assembly))
        {
            _assemblies.Add(path, assembly = Open(path));
        }

        return assembly;
    }

    private static PEReader? Open(string path)
    {
        try
        {
            return new PEReader(File.OpenRead(path));
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return null; // in one file with others, or in memory only
        }
    }

    /// <summary>Adds what a part of a method makes.</summary>
    private static void Collect(
        PEReader file, MetadataReader names, MethodDefinitionHandle method, int start, int end, int depth, SortedSet<string> found)
    {
        int address = names.GetMethodDefinition(method).RelativeVirtualAddress;
        if (address == 0)
        {
            return; // no code here
        }

        BlobReader code = file.GetMethodBody(address).GetILReader();
        while (code.RemainingBytes > 0 && code.Offset < end)
        {
            bool isIncluded = code.Offset >= start;
            byte first = code.ReadByte();
            OpCode operation = first == TwoBytes ? Long[code.ReadByte()] : Short[first];
            int operand = SkipOperand(ref code, operation.OperandType);
            if (isIncluded && operation == OpCodes.Newarr)
            {
                found.Add(TypeOf(names, MetadataTokens.EntityHandle(operand)) is { Length: > 0 } element ? $"{element}[]" : UnknownArray);
            }
            else if (isIncluded && (operation == OpCodes.Call || operation == OpCodes.Callvirt || operation == OpCodes.Newobj))
            {
                CollectCall(file, names, MetadataTokens.EntityHandle(operand), depth, found);
            }
        }
    }

    private static void CollectCall(PEReader file, MetadataReader names, EntityHandle callee, int depth, SortedSet<string> found)
    {
        if (callee.Kind == HandleKind.MethodSpecification)
        {
            callee = names.GetMethodSpecification((MethodSpecificationHandle)callee).Method;
        }

        switch (callee.Kind)
        {
            case HandleKind.MethodDefinition when depth > 0:
                Collect(file, names, (MethodDefinitionHandle)callee, 0, int.MaxValue, depth - 1, found);
                break;
            case HandleKind.MemberReference:
                MemberReference member = names.GetMemberReference((MemberReferenceHandle)callee);
                string name = $"{TypeOf(names, member.Parent)}.{names.GetString(member.Name)}";
                if (Grows().Match(name) is { Success: true } match)
                {
                    found.Add(match.Groups.Values.Skip(1).Single(static group => group.Success).Name);
                }
                else if (ArrayFrom(names, member) is { } array)
                {
                    found.Add(array);
                }

                break;
        }
    }

    private static string TypeOf(MetadataReader names, EntityHandle type)
    {
        switch (type.Kind)
        {
            case HandleKind.TypeReference:
                TypeReference reference = names.GetTypeReference((TypeReferenceHandle)type);
                string name = names.GetString(reference.Name);
                return reference.ResolutionScope.Kind == HandleKind.TypeReference
                    ? $"{TypeOf(names, reference.ResolutionScope)}+{name}"
                    : $"{names.GetString(reference.Namespace)}.{name}";
            case HandleKind.TypeSpecification:
                BlobReader signature = names.GetBlobReader(names.GetTypeSpecification((TypeSpecificationHandle)type).Signature);
                if (signature.ReadSignatureTypeCode() != SignatureTypeCode.GenericTypeInstance)
                {
                    return "";
                }

                signature.ReadByte(); // class or value type
                return TypeOf(names, signature.ReadTypeHandle());
            default:
                return "";
        }
    }

    /// <summary>The array that a method of another assembly gives, which it may have made; null where it gives none.</summary>
    private static string? ArrayFrom(MetadataReader names, MemberReference member)
    {
        BlobReader signature = names.GetBlobReader(member.Signature);
        SignatureHeader header = signature.ReadSignatureHeader();
        if (header.Kind != SignatureKind.Method)
        {
            return null;
        }

        if (header.IsGeneric)
        {
            signature.ReadCompressedInteger();
        }

        signature.ReadCompressedInteger(); // how many parameters
        return signature.ReadSignatureTypeCode() != SignatureTypeCode.SZArray ? null
            : signature.ReadSignatureTypeCode() is > SignatureTypeCode.Void and <= SignatureTypeCode.String and var element
                ? $"System.{element}[]"
                : UnknownArray;
    }

    /// <summary>Passes an operand; its value where it has four bytes.</summary>
    private static int SkipOperand(ref BlobReader code, OperandType type)
    {
        switch (type)
        {
            case OperandType.InlineNone:
                return 0;
            case OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar:
                return code.ReadByte();
            case OperandType.InlineVar:
                return code.ReadUInt16();
            case OperandType.InlineI8 or OperandType.InlineR:
                code.ReadInt64();
                return 0;
            case OperandType.InlineSwitch:
                code.Offset += code.ReadInt32() * sizeof(int);
                return 0;
            default:
                return code.ReadInt32();
        }
    }

    private static OpCode[] OpCodesOf(int size)
    {
        var codes = new OpCode[256];
        foreach (var field in typeof(OpCodes).GetFields().Where(static field => field.FieldType == typeof(OpCode)))
        {
            var code = (OpCode)field.GetValue(null)!;
            if (code.Size == size)
            {
                codes[(byte)code.Value] = code;
            }
        }

        return codes;
    }

    [GeneratedRegex(
        @"^System\.(?:IO\.(?:(?<MemoryStream>(?:Memory)?Stream\.(?:Write|SetLength|set_Capacity)|MemoryStream\.\.ctor)"
            + @"|(?<StringBuilder>TextWriter\.Write))"
            + @"|Text\.(?<StringBuilder>StringBuilder(?:\+AppendInterpolatedStringHandler)?"
            + @"\.(?:Append|Insert|Replace|EnsureCapacity|set_Length|\.ctor))"
            + @"|Buffers\.(?<ArrayBufferWriter>(?:ArrayBufferWriter`1|IBufferWriter`1)\.(?:Get|\.ctor)|BuffersExtensions\.Write)"
            + @"|Collections\.Generic\.(?:(?<List>List)|(?<Dictionary>Dictionary)|(?<HashSet>HashSet)|(?<Queue>Queue)|(?<Stack>Stack))`\d"
            + @"\.(?:Add|TryAdd|Insert|set_Item|Enqueue|Push|EnsureCapacity|\.ctor))")]
    private static partial Regex Grows();
}
