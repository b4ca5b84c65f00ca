using System.IO.Compression;
using System.Reflection.Metadata;
using System.Text;
using System.Xml.Linq;

namespace Tidepool.Packages;

/// <summary>What <c>./tidepool pack</c> makes.</summary>
[Trait("Category", "Slow")]
public sealed class PackageTests
{
    private static readonly string[] Libraries =
        ["Tidepool", "Tidepool.AspNetCore", "Tidepool.EntityFrameworkCore", "Tidepool.Extensions", "Tidepool.Native"];

    private static readonly string[] All = [.. Libraries, "Tidepool.Tool"];

    [PackedFact]
    public async Task Two_clones_of_one_commit_give_the_same_packages()
    {
        Feed one = await Clones.FeedAsync();
        Feed two = await Clones.OtherAsync();

        Assert.Equal(one.Files.Select(Path.GetFileName), two.Files.Select(Path.GetFileName));
        Assert.Equal(
            All.SelectMany(static name => (string[])[$"{name}.nupkg", $"{name}.snupkg"]).Order(StringComparer.Ordinal),
            one.Names.Order(StringComparer.Ordinal));
        Assert.All(
            one.Files.Zip(two.Files),
            static pair => Assert.True(
                File.ReadAllBytes(pair.First).AsSpan().SequenceEqual(File.ReadAllBytes(pair.Second)), Difference(pair.First, pair.Second)));
    }

    [PackedFact]
    public async Task A_package_has_its_page_its_licence_the_commit_and_one_target()
    {
        Feed feed = await Clones.FeedAsync();
        string commit = (await Clones.GitAsync(await Clones.FirstAsync(), "rev-parse", "HEAD")).Output.Trim();
        foreach (string name in All)
        {
            using ZipArchive package = ZipFile.OpenRead(feed.Find(name));
            Assert.StartsWith($"# {name}\n", Text(package, "README.md"), StringComparison.Ordinal);
            Assert.Equal(await File.ReadAllTextAsync(Repository.At("LICENSE")), Text(package, "LICENSE"));
            XElement metadata = XDocument.Parse(Text(package, $"{name}.nuspec")).Root!.Elements().Single();
            Assert.Equal("MIT", Of(metadata, "license").Value);
            Assert.Equal("README.md", Of(metadata, "readme").Value);
            Assert.Equal(commit, Of(metadata, "repository").Attribute("commit")!.Value);
            Assert.Null(Of(metadata, "repository").Attribute("url")); // the origin is a folder of this machine
            if (Libraries.Contains(name))
            {
                Assert.Equal(
                    [$"lib/net10.0/{name}.dll", $"lib/net10.0/{name}.xml"],
                    package.Entries.Select(static entry => entry.FullName)
                        .Where(static entry => entry.StartsWith("lib/", StringComparison.Ordinal)));
            }
        }
    }

    [PackedFact]
    public async Task Libraries_depend_on_the_core_of_the_same_version_and_let_its_analyzers_through()
    {
        Feed feed = await Clones.FeedAsync();
        foreach (string name in Libraries.Skip(1))
        {
            using ZipArchive package = ZipFile.OpenRead(feed.Find(name));
            XElement core = XDocument.Parse(Text(package, $"{name}.nuspec")).Descendants()
                .Single(static element => element.Attribute("id")?.Value == "Tidepool");
            Assert.Equal(feed.Version, core.Attribute("version")!.Value);
            Assert.Null(core.Attribute("exclude"));
        }
    }

    [PackedFact]
    public async Task The_native_library_is_in_its_package()
    {
        using ZipArchive package = ZipFile.OpenRead((await Clones.FeedAsync()).Find("Tidepool.Native"));
        ZipArchiveEntry library = Assert.Single(package.Entries, static entry => entry.Name == "libtidepool.so");
        Assert.Matches("^runtimes/linux-[a-z0-9]+/native/libtidepool.so$", library.FullName);
        Assert.Equal("\u007fELF"u8, Bytes(library).AsSpan(0, 4));
    }

    [PackedFact]
    public async Task Symbols_have_the_sources_inside_and_no_path_of_the_clone()
    {
        Feed feed = await Clones.FeedAsync();
        byte[] clone = Encoding.UTF8.GetBytes(await Clones.FirstAsync());
        foreach (string name in All)
        {
            using ZipArchive package = ZipFile.OpenRead(feed.Find(name));
            Assert.All(package.Entries, entry => Assert.True(Bytes(entry).AsSpan().IndexOf(clone) < 0, $"{entry} names the clone's path"));
        }

        foreach (string name in Libraries)
        {
            using ZipArchive symbols = ZipFile.OpenRead(feed.Find(name, "snupkg"));
            byte[] pdb = Bytes(Assert.Single(symbols.Entries, static entry => entry.FullName.EndsWith(".pdb", StringComparison.Ordinal)));
            using var provider = MetadataReaderProvider.FromPortablePdbStream(new MemoryStream(pdb));
            MetadataReader reader = provider.GetMetadataReader();
            Guid embeddedSource = new("0E8A571B-6926-466E-B4AD-8AB04611F5FE");
            int sources = reader.CustomDebugInformation.Count(
                handle => reader.GetGuid(reader.GetCustomDebugInformation(handle).Kind) == embeddedSource);
            Assert.Equal(reader.Documents.Count, sources);
            Assert.All(
                reader.Documents,
                handle => Assert.StartsWith("/_/", reader.GetString(reader.GetDocument(handle).Name), StringComparison.Ordinal));
        }
    }

    private static XElement Of(XElement parent, string name) => parent.Elements().Single(element => element.Name.LocalName == name);

    private static string Text(ZipArchive package, string entry) =>
        Encoding.UTF8.GetString(Bytes(package.GetEntry(entry)!)).TrimStart('\uFEFF');

    private static byte[] Bytes(ZipArchiveEntry entry)
    {
        using Stream content = entry.Open();
        using var bytes = new MemoryStream();
        content.CopyTo(bytes);
        return bytes.ToArray();
    }

    private static string Difference(string one, string two)
    {
        using ZipArchive first = ZipFile.OpenRead(one);
        using ZipArchive second = ZipFile.OpenRead(two);
        IEnumerable<string> names = first.Entries.Concat(second.Entries).Select(static entry => entry.FullName).Distinct();
        return $"{Path.GetFileName(one)} differs in: " + string.Join(
            ", ",
            names.Where(
                name => first.GetEntry(name) is not { } a || second.GetEntry(name) is not { } b
                    || !Bytes(a).AsSpan().SequenceEqual(Bytes(b))));
    }
}
