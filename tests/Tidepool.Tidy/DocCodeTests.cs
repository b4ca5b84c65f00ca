namespace Tidepool.Tidy;

/// <summary>Code on a page is code: it compiles, it runs, and it prints what the page says.</summary>
public sealed class DocCodeTests
{
    public static TheoryData<string, int> Blocks() => Those(native: false);

    public static TheoryData<string, int> NativeBlocks() => Those(native: true);

    private static TheoryData<string, int> Those(bool native)
    {
        var blocks = new TheoryData<string, int>();
        foreach (DocCode block in DocCode.All().Where(block => block.IsNative == native))
        {
            blocks.Add(block.Page, block.Line);
        }
        return blocks;
    }

    [Theory]
    [MemberData(nameof(Blocks))]
    public void Block_runs_and_prints_what_the_page_says(string page, int line)
    {
        DocCode block = DocCode.All().Single(b => b.Page == page && b.Line == line);
        string printed = block.Run();
        if (block.Output is not null)
        {
            Assert.Equal(block.Output, printed);
        }
    }

    [NeedsNativeLibrary]
    [MemberData(nameof(NativeBlocks))]
    public void Block_over_native_memory_runs_and_prints_what_the_page_says(string page, int line) =>
        Block_runs_and_prints_what_the_page_says(page, line);

    [Theory]
    [MemberData(nameof(NativeBlocks))]
    public void Block_over_native_memory_compiles(string page, int line) =>
        Assert.NotEmpty(DocCode.All().Single(b => b.Page == page && b.Line == line).Compile());

    /// <summary>The types that a user meets first.</summary>
    private static readonly string[] First =
    [
        "BufferPool<T>", "ObjectPool<T>", "PooledBufferWriter<T>", "PooledDbDataSource", "PooledMemoryPool<T>", "PooledMemoryStream",
        "PooledSequenceWriter<T>", "ResourcePool<T>", "SlabMemoryPool<T>",
    ];

    [Fact]
    public void The_types_that_a_user_meets_first_have_an_example_that_compiles()
    {
        DocCode[] examples = [.. DocCode.Examples()];
        Problems.AssertNone(First.Except(examples.Select(example => example.Page)), "Public types without an <example>:");
        Assert.All(examples, example => Assert.NotEmpty(example.Compile()));
    }

    [Fact]
    public void Every_block_of_a_page_has_a_language_that_is_known()
    {
        string[] known = ["", "csharp", "output", "json", "xml"];
        string[] knownToNative = ["c", "cpp", "cmake", "sh"]; // the tests of native/ compile and run those of its pages
        Problems.AssertNone(
            from page in Repository.Under("", ".md")
            from line in Fences(page)
            where !known.Contains(line.language)
            where !page.StartsWith("native/", StringComparison.Ordinal) || !knownToNative.Contains(line.language)
            select $"{page}:{line.number}: {line.language}",
            "C# blocks are marked csharp, or nothing compiles them:");
    }

    [Fact]
    public void The_readme_shows_a_rental_by_line_20()
    {
        Assert.Contains(DocCode.All(), block => block is { Page: "README.md", Line: <= 20 }
            && block.Code.Contains("Rent(", StringComparison.Ordinal));
    }

    [Fact]
    public void The_readme_is_a_page_for_reading() =>
        Assert.InRange(File.ReadLines(Repository.Path("README.md")).Count(), 40, 120);

    private static IEnumerable<(int number, string language)> Fences(string page)
    {
        bool open = false;
        int number = 0;
        foreach (string line in File.ReadLines(Repository.Path(page)))
        {
            number++;
            if (line.StartsWith("```", StringComparison.Ordinal))
            {
                open = !open;
                if (open)
                {
                    yield return (number, line[3..].Trim());
                }
            }
        }
    }
}
