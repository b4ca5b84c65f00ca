using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Finds file and line of a frame that was captured without them, where the symbols lie beside the assembly or in it.</summary>
/// <remarks>
/// The platform looks up lines only while it captures, which would make each recorded rental pay for a report that may never be written.
/// Thread-safe. The symbols of an assembly are read once, when it first stands in a report, and go with it. With native AOT there are none,
/// and nothing is found.
/// </remarks>
internal static class SourceLines
{
    private static readonly ConditionalWeakTable<Assembly, Symbols> Known = [];

    /// <summary>The place as the platform writes it (<c> in file:line 12</c>), or nothing.</summary>
    [UnconditionalSuppressMessage(
        "Trimming", "IL2026",
        Justification = "A method that was trimmed away has no frame; one without metadata has no line.")]
    internal static string Find(StackFrame frame)
    {
        if (!RuntimeFeature.IsDynamicCodeSupported)
        {
            return string.Empty; // compiled ahead of time: the reader of symbols is left out of the program
        }

        try
        {
            if (frame.GetMethod() is not { } method || frame.GetILOffset() is StackFrame.OFFSET_UNKNOWN)
            {
                return string.Empty;
            }

            MetadataReader? reader = Known.GetValue(method.Module.Assembly, static assembly => new Symbols(Open(assembly))).Reader;
            return reader is null ? string.Empty : Find(reader, method.MetadataToken, frame.GetILOffset());
        }
        catch (Exception)
        {
            return string.Empty; // symbols that cannot be read, or of another build: a report without lines is better than none
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

    [UnconditionalSuppressMessage(
        "SingleFile", "IL3000",
        Justification = "An assembly without a file has no symbols beside it, and none are found.")]
    private static MetadataReaderProvider? Open(Assembly assembly)
    {
        try
        {
            string path = assembly.Location;
            if (path.Length == 0)
            {
                return null;
            }

            using var image = new PEReader(File.OpenRead(path));
            image.TryOpenAssociatedPortablePdb(
                path,
                static file => File.Exists(file) ? File.OpenRead(file) : null,
                out MetadataReaderProvider? provider,
                out _);
            return provider;
        }
        catch (Exception)
        {
            return null; // once is enough: a file that cannot be read now is not tried for each report
        }
    }

    /// <summary>The symbols of one assembly; the provider keeps alive what its reader reads.</summary>
    private sealed class Symbols(MetadataReaderProvider? provider)
    {
        private readonly MetadataReaderProvider? _provider = provider;

        internal MetadataReader? Reader { get; } = provider?.GetMetadataReader();

        ~Symbols() => _provider?.Dispose();
    }
}
