using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace Tidepool;

/// <summary>Finds file and line of a frame that was captured without them, where the symbols lie beside the assembly or in it.</summary>
/// <remarks>
/// The platform looks up lines only while it captures, which would make each recorded rental pay for a report that may never be written. Not
/// thread-safe; reads the files of symbols once for each report. With native AOT there are none, and nothing is found.
/// </remarks>
internal sealed class SourceLines : IDisposable
{
    private readonly Dictionary<Assembly, MetadataReaderProvider?> _symbols = [];

    /// <summary>The place as the platform writes it (<c> in file:line 12</c>), or nothing.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "A method that was trimmed away has no frame; one without metadata has no line.")]
    internal string Find(StackFrame frame)
    {
        try
        {
            if (frame.GetMethod() is not { } method || frame.GetILOffset() is StackFrame.OFFSET_UNKNOWN)
            {
                return string.Empty;
            }

            MetadataReaderProvider? provider = SymbolsOf(method.Module.Assembly);
            return provider is null ? string.Empty : Find(provider.GetMetadataReader(), method.MetadataToken, frame.GetILOffset());
        }
        catch (Exception)
        {
            return string.Empty; // symbols that cannot be read, or of another build: a report without lines is better than none
        }
    }

    public void Dispose()
    {
        foreach (MetadataReaderProvider? provider in _symbols.Values)
        {
            provider?.Dispose();
        }
    }

    private static string Find(MetadataReader reader, int token, int offset)
    {
        MethodDebugInformationHandle handle = MetadataTokens.MethodDefinitionHandle(token & 0xFFFFFF).ToDebugInformationHandle();
        SequencePoint? last = null;
        foreach (SequencePoint point in reader.GetMethodDebugInformation(handle).GetSequencePoints())
        {
            if (point.Offset > offset)
            {
                break;
            }

            last = point.IsHidden ? last : point;
        }

        return last is { } found ? $" in {reader.GetString(reader.GetDocument(found.Document).Name)}:line {found.StartLine}" : string.Empty;
    }

    [UnconditionalSuppressMessage("SingleFile", "IL3000", Justification = "An assembly without a file has no symbols beside it, and none are found.")]
    private MetadataReaderProvider? SymbolsOf(Assembly assembly)
    {
        if (!_symbols.TryGetValue(assembly, out MetadataReaderProvider? provider))
        {
            string path = assembly.Location;
            if (path.Length > 0)
            {
                using var image = new PEReader(File.OpenRead(path));
                image.TryOpenAssociatedPortablePdb(path, static file => File.Exists(file) ? File.OpenRead(file) : null, out provider, out _);
            }

            _symbols.Add(assembly, provider);
        }

        return provider;
    }
}
