using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Tidepool.Advice;

/// <summary>
/// The assemblies of a program as they are on disk, each opened once, with its symbols beside it or inside it. No server is asked.
/// </summary>
internal sealed class AssemblyFiles : IDisposable
{
    private readonly Dictionary<string, PEReader?> _files = new(StringComparer.Ordinal);
    private readonly Dictionary<string, MetadataReaderProvider?> _symbols = new(StringComparer.Ordinal);

    /// <summary>An assembly; null where it is in one file with others, or in memory only.</summary>
    public PEReader? Find(string path) => Cached(_files, path, static path => new PEReader(File.OpenRead(path)));

    /// <summary>Its symbols; null where it has none.</summary>
    public MetadataReaderProvider? FindSymbols(string path) => Cached(_symbols, path, SymbolsOf);

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (IDisposable? opened in _symbols.Values.Concat<IDisposable?>(_files.Values))
        {
            opened?.Dispose();
        }
    }

    /// <summary>Whether it says that a file is missing, is no assembly or is of another build.</summary>
    public static bool IsUnreadable(Exception failure) => failure is IOException or UnauthorizedAccessException
        or BadImageFormatException or ArgumentException or InvalidOperationException;

    private MetadataReaderProvider? SymbolsOf(string path) =>
        Find(path) is { } file && file.TryOpenAssociatedPortablePdb(
            path, static path => File.Exists(path) ? File.OpenRead(path) : null, out MetadataReaderProvider? symbols, out _)
            ? symbols
            : null;

    private static T? Cached<T>(Dictionary<string, T?> opened, string path, Func<string, T?> open)
        where T : class
    {
        if (!opened.TryGetValue(path, out T? known))
        {
            try
            {
                known = open(path);
            }
            catch (Exception failure) when (IsUnreadable(failure))
            {
                known = null;
            }

            opened.Add(path, known);
        }

        return known;
    }
}
