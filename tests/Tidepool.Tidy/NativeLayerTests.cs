using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>Folders of native/src are layers; the table in native/src/README.md says which folder may use which.</summary>
/// <remarks>Includes are the only way to a call, because a header declares what the file of its name defines, and nothing else.</remarks>
public sealed partial class NativeLayerTests
{
    private const string Folder = "native/src/";

    private static IEnumerable<string> Sources => Repository.Under(Folder, ".h").Concat(Repository.Under(Folder, ".cpp"));

    [Fact]
    public void Includes_obey_the_layer_table()
    {
        LayerTable table = LayerTable.Read(Folder + "README.md");
        Problems.AssertNone(
            from file in Sources
            from Match include in Include().Matches(Repository.Read(file))
            let target = include.Groups["file"].Value
            where !target.StartsWith("tidepool/", StringComparison.Ordinal) && !table.Allows(FolderOf(file), target.Split('/')[0])
            select $"{file} ({table.LayerOf(FolderOf(file))}) includes {target}",
            $"A layer uses only what its row in {Folder}README.md allows. Move the common part down, or pass a callback:");
    }

    [Fact]
    public void Every_folder_is_in_the_layer_table()
    {
        LayerTable table = LayerTable.Read(Folder + "README.md");
        Problems.AssertSame(table.Folders, Sources.Select(FolderOf).Distinct(), $"Folders of {Folder} and rows of its README.md:");
    }

    [Fact]
    public void A_header_declares_what_its_own_source_file_defines()
    {
        Problems.AssertNone(
            from file in Repository.Under(Folder, ".h")
            let sources = SourcesOf(file)
            from name in Declarations(file)
            where !sources.Any(source => Defines(source, name))
            select $"{file}: {name}",
            "Functions and variables that no source file of the header's name defines:");
    }

    [Fact]
    public void A_source_file_declares_nothing_that_another_one_defines()
    {
        Problems.AssertNone(
            from file in Repository.Under(Folder, ".cpp")
            where !file.StartsWith(Folder + "override/", StringComparison.Ordinal) // names of the C library
            let text = WithoutComments(Repository.Read(file))
            from name in Declarations(file)
            where !Defines(text, name)
            select $"{file}: {name}",
            "Include the header that declares them:");
    }

    /// <summary>The inline paths of the public headers call the entry points, so they are not for the layers below.</summary>
    [Fact]
    public void Layers_below_the_entry_points_do_not_call_them()
    {
        string header = Repository.Read("native/include/tidepool/tidepool.h");
        string[] entries = [.. Entry().Matches(header).Select(match => match.Groups["name"].Value)];
        Assert.True(entries.Length > 40, $"only {entries.Length} functions of tidepool.h were found");
        const string Inline = "allocate|deallocate|allocate_fixed|free_fixed|rent_from|return_to";
        var call = new Regex($@"\b({string.Join('|', entries)}|detail::({Inline}|tp_\w+))\s*(<[^>]*>)?\(");
        Problems.AssertNone(
            from file in Sources
            where FolderOf(file) is not ("api" or "override")
            from Match match in call.Matches(WithoutComments(Repository.Read(file)))
            select $"{file}: {match.Value}",
            "Calls of entry points from below:");
    }

    private static string FolderOf(string file) => file[Folder.Length..].Split('/')[0];

    /// <summary>The text of the source files that belong to a header: of its name, or of its name and that of a system.</summary>
    private static string[] SourcesOf(string header)
    {
        string name = Regex.Escape(header[..^2]);
        var source = new Regex($@"^{name}(_linux)?\.cpp$");
        IEnumerable<string> files = Repository.Under(Folder, ".cpp").Where(file => source.IsMatch(file));
        return [.. files.Select(file => WithoutComments(Repository.Read(file)))];
    }

    /// <summary>What a file declares in a namespace without defining it there: the code has no indentation in namespaces.</summary>
    private static IEnumerable<string> Declarations(string file) =>
        Declaration().Matches(WithoutComments(Repository.Read(file))).Select(match => match.Groups["name"].Value).Distinct();

    private static bool Defines(string text, string name) =>
        Regex.IsMatch(
            text, $@"^(?!extern [^""])[^\s#/].*\b{name}(\((?>[^;{{}}]|\{{\}})*\{{|(\[[^\]]*\])*( = .*|\{{.*)?;)", RegexOptions.Multiline);

    private static string WithoutComments(string text) => Comment().Replace(text, "");

    [GeneratedRegex(@"^#include ""(?<file>[^""]+)""", RegexOptions.Multiline)]
    private static partial Regex Include();

    /// <summary>A prototype, or a variable that is declared extern.</summary>
    [GeneratedRegex(
        @"^(?=[\w\[])(?!static_assert|using|return|typedef|template|friend|#)"
        + @"(extern (?!"")[^;()=]*\b(?<name>\w+)(\[[^\]]*\])?;"
        + @"|[\w:<>\[\]*&, ]+[ *&](?<name>\w+)\((?>[^;{}]|\{\})*\)( const)?( noexcept)?;)",
        RegexOptions.Multiline)]
    private static partial Regex Declaration();

    [GeneratedRegex(@"//.*$", RegexOptions.Multiline)]
    private static partial Regex Comment();

    [GeneratedRegex(@"^TP_EXPORT [^(]*\b(?<name>tp_\w+)\(", RegexOptions.Multiline)]
    private static partial Regex Entry();
}
