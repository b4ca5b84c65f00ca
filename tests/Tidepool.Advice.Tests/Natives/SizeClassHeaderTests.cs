using System.Globalization;
using System.Text.RegularExpressions;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>What the advice prints as C++ compiles with the library's headers, and is what the library's own tool makes.</summary>
[Trait("Category", "Environment")]
public sealed class SizeClassHeaderTests : IDisposable
{
    private const int Terminal = 80;
    private const string Marker = "a file for -DTIDEPOOL_SIZE_CLASSES:\n";

    private static readonly string Include = Path.Combine(NativePrograms.Root, "native", "include");

    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool-classes-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [CompilerFact]
    public void The_header_that_a_terminal_shows_compiles_and_gives_the_classes()
    {
        string header = Printed(MadeUpNative.Report());
        Compile(header, "static_assert(tp::detail::size_of_bin(tp::detail::bin_of(8200)) == 8320);");
    }

    [CompilerFact]
    public void Headers_for_requests_of_any_sizes_compile()
    {
        var random = new Random(1);
        for (int i = 0; i < 4; i++)
        {
            int[] lengths = [.. Enumerable.Range(0, 300).Select(_ => random.Next(1, 60_000)).Append(1 + i * 5000).Distinct().Order()];
            Compile(ClassText.Native(lengths, elementBytes: 1 + i)!, "");
            Compile(ClassText.Native([.. NativeClasses.Best([(lengths[0], 10), (lengths[0] / 2 + 1, 3)])], elementBytes: 1)!, "");
        }
    }

    [CompilerFact]
    public void The_table_is_the_one_that_the_tool_of_the_library_makes()
    {
        string tool = Path.Combine(_folder, "tidepool-tune");
        string sources = Path.Combine(NativePrograms.Root, "native", "tools", "tidepool-tune");
        NativePrograms.Run("g++", ["-std=c++20", "-O1", "-I", Include, "-o", tool, .. Directory.GetFiles(sources, "*.cpp")]);
        var random = new Random(2);
        for (int i = 0; i < 20; i++)
        {
            (int Size, long Times)[] requests =
            [
                .. Enumerable.Range(0, random.Next(1, 200)).Select(_ => random.Next(1, 2049) * 16).Distinct()
                    .Select(size => (size, (long)random.Next(1, 100_000))),
            ];
            int limit = random.Next(12, NativeClasses.Most + 1);
            File.WriteAllLines(Path.Combine(_folder, "profile"), requests.Select(static one => $"{one.Size} {one.Times}"));
            string file = Path.Combine(_folder, "tuned.h");
            NativePrograms.Run(tool, "--classes", $"{limit}", "--output", file, Path.Combine(_folder, "profile"));
            Assert.Equal(ClassesOf(File.ReadAllText(file)), NativeClasses.Best(requests, limit));
        }
    }

    /// <summary>The header as it is copied out of a terminal.</summary>
    private static string Printed(AdviceReport report)
    {
        string shown = PrintedText.Of(Terminal, console => AdviceText.Print(console, report));
        return shown[(shown.IndexOf(Marker, StringComparison.Ordinal) + Marker.Length)..]; // the pools are at its end
    }

    private static int[] ClassesOf(string header) =>
    [
        .. Regex.Matches(header[header.LastIndexOf('{')..], @"\d+").Select(
            static number => int.Parse(number.Value, CultureInfo.InvariantCulture)),
    ];

    private void Compile(string header, string check)
    {
        string file = Path.Combine(_folder, "classes.h");
        string source = Path.Combine(_folder, "uses.cpp");
        File.WriteAllText(file, header);
        File.WriteAllText(source, $"#include <tidepool/tidepool.hpp>\n{check}\nint main() {{}}\n");
        NativePrograms.Run(
            "g++", "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", "-I", Include, $"-DTIDEPOOL_SIZE_CLASSES=\"{file}\"", source);
    }
}
