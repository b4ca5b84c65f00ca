using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace Tidepool.Advice;

/// <summary>Finds source lines by the symbols beside assemblies, or inside them. No server is asked.</summary>
internal sealed class LineReader : IDisposable
{
    private readonly Dictionary<string, MetadataReaderProvider?> _symbols = new(StringComparer.Ordinal);

    /// <summary>The line of an offset in a method's own code; no file and 0 where symbols are missing.</summary>
    /// <param name="assemblyPath">The assembly.</param>
    /// <param name="token">The method's token in it.</param>
    /// <param name="offset">The offset.</param>
    public (string File, int Line) Find(string assemblyPath, int token, int offset)
    {
        try
        {
            return SymbolsOf(assemblyPath)?.GetMetadataReader() is { } reader ? Find(reader, token, offset) : ("", 0);
        }
        catch (Exception failure) when (failure is BadImageFormatException or InvalidOperationException)
        {
            return ("", 0); // symbols of another build: a site without a line is better than no advice
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (MetadataReaderProvider? provider in _symbols.Values)
        {
            provider?.Dispose();
        }
    }

    private static (string File, int Line) Find(MetadataReader reader, int token, int offset)
    {
        if (MetadataTokens.Handle(token) is not { Kind: HandleKind.MethodDefinition } handle
            || MetadataTokens.GetRowNumber((MethodDefinitionHandle)handle) > reader.MethodDebugInformation.Count)
        {
            return ("", 0);
        }

        SequencePoint best = default;
        foreach (SequencePoint point in reader.GetMethodDebugInformation((MethodDefinitionHandle)handle).GetSequencePoints())
        {
            if (!point.IsHidden && (best.Document.IsNil || point.Offset <= offset))
            {
                best = point;
            }
        }

        return best.Document.IsNil ? ("", 0) : (reader.GetString(reader.GetDocument(best.Document).Name), best.StartLine);
    }

    private MetadataReaderProvider? SymbolsOf(string assemblyPath)
    {
        if (!_symbols.TryGetValue(assemblyPath, out MetadataReaderProvider? symbols))
        {
            _symbols.Add(assemblyPath, symbols = Open(assemblyPath));
        }

        return symbols;
    }

    private static MetadataReaderProvider? Open(string assemblyPath)
    {
        try
        {
            using var assembly = new PEReader(File.OpenRead(assemblyPath));
            return assembly.TryOpenAssociatedPortablePdb(
                assemblyPath, static path => File.Exists(path) ? File.OpenRead(path) : null, out MetadataReaderProvider? symbols, out _)
                ? symbols
                : null;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or BadImageFormatException
            or ArgumentException or InvalidOperationException)
        {
            return null; // an assembly in one file with others, or in memory only
        }
    }
}
