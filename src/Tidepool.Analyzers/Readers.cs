using Microsoft.CodeAnalysis;

namespace Tidepool.Analyzers;

/// <summary>Calls of the platform that read or write what they get and keep none of it.</summary>
internal static class Readers
{
    private static readonly HashSet<string> Types =
    [
        "System.Array", "System.ArraySegment`1", "System.BitConverter", "System.Buffer", "System.Char", "System.Console", "System.Convert",
        "System.Guid", "System.HashCode", "System.Memory`1", "System.MemoryExtensions", "System.Object", "System.Random",
        "System.ReadOnlyMemory`1", "System.ReadOnlySpan`1", "System.Span`1", "System.String", "System.GC", "System.MathF", "System.Math",
        "System.Buffers.BuffersExtensions", "System.Buffers.ReadOnlySequence`1", "System.Buffers.SearchValues",
        "System.Buffers.Binary.BinaryPrimitives", "System.Buffers.Text.Base64", "System.Buffers.Text.Base64Url",
        "System.Buffers.Text.Utf8Formatter", "System.Buffers.Text.Utf8Parser",
        "System.IO.BinaryReader", "System.IO.BinaryWriter", "System.IO.File", "System.IO.RandomAccess", "System.IO.Stream",
        "System.IO.Pipelines.PipeWriter", "System.IO.TextReader", "System.IO.TextWriter",
        "System.Net.Sockets.Socket", "System.Net.WebSockets.WebSocket",
        "System.Numerics.Tensors.TensorPrimitives", "System.Numerics.BigInteger", "System.Diagnostics.Debug", "System.Diagnostics.Trace",
        "System.Runtime.InteropServices.MemoryMarshal", "System.Text.Decoder", "System.Text.Encoder", "System.Text.Encoding",
        "System.Text.EncodingExtensions", "System.Text.Rune", "System.Text.StringBuilder", "System.Text.Ascii",
        "System.Text.Unicode.Utf8",
        "System.Security.Cryptography.CryptographicOperations", "System.Security.Cryptography.HashAlgorithm",
        "System.Security.Cryptography.IncrementalHash", "System.Security.Cryptography.RandomNumberGenerator",
        "System.Security.Cryptography.SHA1", "System.Security.Cryptography.SHA256", "System.Security.Cryptography.SHA384",
        "System.Security.Cryptography.SHA512", "System.Security.Cryptography.MD5", "System.IO.Hashing.NonCryptographicHashAlgorithm",
        "System.IO.Hashing.Crc32", "System.IO.Hashing.Crc64", "System.IO.Hashing.XxHash3", "System.IO.Hashing.XxHash32",
        "System.IO.Hashing.XxHash64", "System.IO.Hashing.XxHash128", "System.IO.Compression.BrotliDecoder",
        "System.IO.Compression.BrotliEncoder", "System.Net.Sockets.NetworkStream",
    ];

    private static readonly HashSet<string> EagerLinq =
    [
        "Aggregate", "All", "Any", "Average", "Contains", "Count", "ElementAt", "First", "FirstOrDefault", "Last", "LastOrDefault",
        "LongCount", "Max", "Min", "SequenceEqual", "Single", "Sum", "ToArray", "ToList", "ToHashSet",
    ];

    private static readonly HashSet<string> Keepers = ["AsReadOnly", "BeginRead", "BeginWrite", "AsMemory", "CreateFromPinnedArray",
        "Synchronized", "TryGetArray"];

    internal static bool IsReader(IMethodSymbol method)
    {
        INamedTypeSymbol? type = method.ContainingType;
        if (type is null || !Names.Space(type).StartsWith("System", StringComparison.Ordinal))
        {
            return false;
        }

        string full = Names.Full(type);
        if (method.MethodKind == MethodKind.Constructor)
        {
            return Names.IsView(type) || full is "System.String" or "System.Guid" or "System.Decimal" or "System.Numerics.BigInteger";
        }

        return Types.Contains(full)
            ? Names.IsView(method.ReturnType) || !Keepers.Contains(method.Name)
            : full == "System.Linq.Enumerable" && EagerLinq.Contains(method.Name);
    }
}
