using System.Reflection;
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
internal sealed partial class StatementReader(AssemblyFiles assemblies)
{
    private const int Depth = 3; // calls within the assembly that are followed: short methods become part of their callers too
    private const int MostMethods = 100; // of those: a method that may call more of them may make anything
    private const int MostNested = 8; // types in types
    private const byte TwoBytes = 0xFE;

    private static readonly OpCode[] Short = OpCodesOf(1);
    private static readonly OpCode[] Long = OpCodesOf(2);

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

    private string[] Read(string assemblyPath, int token, int start, int end)
    {
        try
        {
            if (MetadataTokens.Handle(token) is not { Kind: HandleKind.MethodDefinition } handle
                || assemblies.Find(assemblyPath) is not { } file)
            {
                return [];
            }

            var statement = new Reading(file, file.GetMetadataReader());
            statement.Collect((MethodDefinitionHandle)handle, start, end, Depth);
            if (statement.Found.Count == 0)
            {
                statement.Collect((MethodDefinitionHandle)handle, 0, int.MaxValue, Depth);
            }

            return [.. statement.Found];
        }
        catch (Exception failure) when (AssemblyFiles.IsUnreadable(failure))
        {
            return []; // another build of the assembly: the site counts as one of the program's own
        }
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
                int targets = code.ReadInt32();
                if (targets < 0 || targets > code.RemainingBytes / sizeof(int))
                {
                    throw new BadImageFormatException();
                }

                code.Offset += targets * sizeof(int);
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
            + @"|Buffers\.(?<ArrayBufferWriter>(?:ArrayBufferWriter`1|IBufferWriter`1)\.(?:Get|\.ctor)|BuffersExtensions\.Write))")]
    private static partial Regex Grows();

    [GeneratedRegex(@"^(System|Microsoft\.Extensions)\.")]
    private static partial Regex Platform();

    /// <summary>Methods whose signatures do not say that they may make an array, and delegates.</summary>
    [GeneratedRegex(@"^System\.(Array\.(Resize|Clone|CreateInstance)|.*\.Invoke)$")]
    private static partial Regex MakesAny();

    /// <summary>What one statement makes, as far as its calls were followed.</summary>
    private sealed class Reading(PEReader file, MetadataReader names)
    {
        private readonly Dictionary<MethodDefinitionHandle, int> _followed = [];

        /// <summary>What was found so far.</summary>
        public SortedSet<string> Found { get; } = new(StringComparer.Ordinal);

        /// <summary>Adds what a part of a method makes.</summary>
        public void Collect(MethodDefinitionHandle method, int start, int end, int depth)
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
                if (operation.Size == 0)
                {
                    throw new BadImageFormatException(); // no instruction, as in code that is only decrypted when it runs
                }

                int operand = SkipOperand(ref code, operation.OperandType);
                if (isIncluded && operation == OpCodes.Newarr)
                {
                    string element = TypeOf(MetadataTokens.EntityHandle(operand), MostNested);
                    Found.Add(element.Length > 0 ? $"{element}[]" : TypeRules.UnknownArray);
                }
                else if (isIncluded && (operation == OpCodes.Call || operation == OpCodes.Callvirt || operation == OpCodes.Newobj))
                {
                    CollectCall(MetadataTokens.EntityHandle(operand), depth);
                }
            }
        }

        private void CollectCall(EntityHandle callee, int depth)
        {
            if (callee.Kind == HandleKind.MethodSpecification)
            {
                callee = names.GetMethodSpecification((MethodSpecificationHandle)callee).Method;
            }

            if (callee.Kind == HandleKind.MethodDefinition)
            {
                Follow((MethodDefinitionHandle)callee, depth);
            }
            else if (callee.Kind == HandleKind.MemberReference)
            {
                MemberReference member = names.GetMemberReference((MemberReferenceHandle)callee);
                string name = $"{TypeOf(member.Parent, MostNested)}.{names.GetString(member.Name)}";
                if (Grows().Match(name) is { Success: true } match)
                {
                    Found.Add(match.Groups.Values.Skip(1).Single(static group => group.Success).Name);
                }
                else if (ArrayFrom(name, member) is { } array)
                {
                    Found.Add(array);
                }
            }
        }

        /// <summary>Adds what a method of the same assembly makes; it may make anything where another may run in its place.</summary>
        private void Follow(MethodDefinitionHandle method, int depth)
        {
            if (_followed.TryGetValue(method, out int before) && before >= depth)
            {
                return;
            }

            MethodDefinition definition = names.GetMethodDefinition(method);
            bool isMade = definition.ImplAttributes.HasFlag(MethodImplAttributes.Runtime); // of a delegate
            if (isMade && definition.Attributes.HasFlag(MethodAttributes.SpecialName))
            {
                return; // its constructor
            }

            _followed[method] = depth;
            bool isReplaced = (definition.Attributes & (MethodAttributes.Virtual | MethodAttributes.Final)) == MethodAttributes.Virtual
                && !names.GetTypeDefinition(definition.GetDeclaringType()).Attributes.HasFlag(TypeAttributes.Sealed);
            if (depth == 0 || isMade || isReplaced || _followed.Count > MostMethods)
            {
                Found.Add(TypeRules.UnknownArray);
            }
            else
            {
                Collect(method, 0, int.MaxValue, depth - 1);
            }
        }

        /// <summary>A type of another assembly by its name; empty for all others.</summary>
        private string TypeOf(EntityHandle type, int nested)
        {
            switch (type.Kind)
            {
                case HandleKind.TypeReference when nested > 0:
                    TypeReference reference = names.GetTypeReference((TypeReferenceHandle)type);
                    string name = names.GetString(reference.Name);
                    return reference.ResolutionScope.Kind == HandleKind.TypeReference
                        ? $"{TypeOf(reference.ResolutionScope, nested - 1)}+{name}"
                        : $"{names.GetString(reference.Namespace)}.{name}";
                case HandleKind.TypeSpecification when nested > 0:
                    BlobReader signature = names.GetBlobReader(names.GetTypeSpecification((TypeSpecificationHandle)type).Signature);
                    if (signature.ReadSignatureTypeCode() != SignatureTypeCode.GenericTypeInstance)
                    {
                        return "";
                    }

                    signature.ReadByte(); // class or value type
                    return TypeOf(signature.ReadTypeHandle(), nested - 1);
                default:
                    return "";
            }
        }

        /// <summary>The array that a method may make whose code is not read; null where that is none.</summary>
        private string? ArrayFrom(string name, MemberReference member)
        {
            BlobReader signature = names.GetBlobReader(member.Signature);
            SignatureHeader header = signature.ReadSignatureHeader();
            if (header.Kind != SignatureKind.Method)
            {
                return null;
            }

            if (!Platform().IsMatch(name) || MakesAny().IsMatch(name))
            {
                return TypeRules.UnknownArray;
            }

            if (header.IsGeneric)
            {
                signature.ReadCompressedInteger();
            }

            signature.ReadCompressedInteger(); // how many parameters
            return signature.ReadSignatureTypeCode() != SignatureTypeCode.SZArray ? null
                : signature.ReadSignatureTypeCode() is > SignatureTypeCode.Void and <= SignatureTypeCode.String and var element
                    ? $"System.{element}[]"
                    : TypeRules.UnknownArray;
        }
    }
}
