using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;

namespace Tidepool.Advice;

/// <summary>A statement of a program.</summary>
/// <param name="File">Its source file; empty where symbols are missing.</param>
/// <param name="Line">Its line, from 1; 0 where symbols are missing.</param>
/// <param name="Start">Where it begins in its method's own code.</param>
/// <param name="End">Where the next one begins.</param>
internal readonly record struct SourceStatement(string File, int Line, int Start, int End)
{
    /// <summary>A whole method, where symbols are missing.</summary>
    public static SourceStatement Unknown { get; } = new("", 0, 0, int.MaxValue);
}

/// <summary>Finds source lines by the symbols of assemblies.</summary>
internal sealed class LineReader(AssemblyFiles assemblies)
{
    /// <summary>The statement at an offset in a method's own code.</summary>
    /// <param name="assemblyPath">The assembly.</param>
    /// <param name="token">The method's token in it.</param>
    /// <param name="offset">The offset.</param>
    public SourceStatement Find(string assemblyPath, int token, int offset)
    {
        try
        {
            return assemblies.FindSymbols(assemblyPath)?.GetMetadataReader() is { } reader
                ? Find(reader, token, offset)
                : SourceStatement.Unknown;
        }
        catch (Exception failure) when (AssemblyFiles.IsUnreadable(failure))
        {
            return SourceStatement.Unknown; // symbols of another build: a site without a line is better than no advice
        }
    }

    private static SourceStatement Find(MetadataReader reader, int token, int offset)
    {
        if (MetadataTokens.Handle(token) is not { Kind: HandleKind.MethodDefinition } handle
            || MetadataTokens.GetRowNumber((MethodDefinitionHandle)handle) > reader.MethodDebugInformation.Count)
        {
            return SourceStatement.Unknown;
        }

        SequencePoint best = default;
        int end = int.MaxValue;
        foreach (SequencePoint point in reader.GetMethodDebugInformation((MethodDefinitionHandle)handle).GetSequencePoints())
        {
            if (!point.IsHidden && (best.Document.IsNil || point.Offset <= offset))
            {
                best = point;
                end = int.MaxValue;
            }
            else if (end == int.MaxValue)
            {
                end = point.Offset;
            }
        }

        return best.Document.IsNil
            ? SourceStatement.Unknown
            : new SourceStatement(reader.GetString(reader.GetDocument(best.Document).Name), best.StartLine, best.Offset, end);
    }
}
