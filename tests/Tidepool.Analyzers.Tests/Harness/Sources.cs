using System.Reflection;
using Microsoft.CodeAnalysis;

namespace Tidepool.Analyzers.Tests.Harness;

/// <summary>Files of this project that are handed to the analyzer, and what they are compiled against.</summary>
internal static class Sources
{
    /// <summary>What a new project gets from the SDK, and the attributes by which fixtures describe themselves.</summary>
    public const string Prelude =
        """
        global using System;
        global using System.Buffers;
        global using System.Collections.Generic;
        global using System.IO;
        global using System.Linq;
        global using System.Text;
        global using System.Threading;
        global using System.Threading.Tasks;
        global using Tidepool;

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class TrapAttribute(string cause) : Attribute
        {
            public string Cause => cause;
        }

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class SeedAttribute(string style) : Attribute
        {
            public string Style => style;
        }

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class TransfersOwnershipAttribute : Attribute;

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class BorrowedAttribute : Attribute;

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class ReturnsRentedAttribute : Attribute;

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class MustReturnAttribute : Attribute;

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class NonCopyableAttribute : Attribute;

        [AttributeUsage(AttributeTargets.All)]
        internal sealed class SecretAttribute : Attribute;
        """;

    private static readonly Lazy<MetadataReference[]> LazyReferences = new(FindReferences);

    /// <summary>The platform, the core of Tidepool and Microsoft's object pool.</summary>
    public static IReadOnlyList<MetadataReference> References => LazyReferences.Value;

    /// <summary>The names of the embedded files of a folder.</summary>
    public static IEnumerable<string> In(string folder) =>
        from name in Assembly.GetExecutingAssembly().GetManifestResourceNames()
        where name.StartsWith(folder + "/", StringComparison.Ordinal)
        orderby name
        select name;

    public static string Read(string name)
    {
        using Stream stream = Assembly.GetExecutingAssembly().GetManifestResourceStream(name)!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }

    /// <summary>The folder that holds Tidepool.slnx.</summary>
    public static string Root
    {
        get
        {
            string folder = AppContext.BaseDirectory;
            while (!File.Exists(Path.Combine(folder, "Tidepool.slnx")))
            {
                folder = Path.GetDirectoryName(folder)!;
            }

            return folder;
        }
    }

    private static MetadataReference[] FindReferences() =>
    [
        .. Platform().Select(file => MetadataReference.CreateFromFile(file)),
        MetadataReference.CreateFromFile(typeof(BufferPool<>).Assembly.Location),
        MetadataReference.CreateFromFile(typeof(Microsoft.Extensions.ObjectPool.ObjectPool).Assembly.Location),
    ];

    /// <summary>The reference assemblies of the SDK; those of the running program where the SDK has none.</summary>
    private static IEnumerable<string> Platform()
    {
        string runtime = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        string pack = Path.Combine(runtime, "..", "..", "..", "packs", "Microsoft.NETCore.App.Ref");
        string target = $"net{Environment.Version.Major}.0";
        string? folder = Directory.Exists(pack)
            ? Directory.GetDirectories(pack).Select(version => Path.Combine(version, "ref", target)).LastOrDefault(Directory.Exists)
            : null;
        return folder is not null
            ? Directory.GetFiles(folder, "*.dll")
            : ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
                .Where(file => Path.GetDirectoryName(file) == runtime);
    }
}
