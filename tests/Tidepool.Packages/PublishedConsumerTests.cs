using System.Runtime.InteropServices;

namespace Tidepool.Packages;

/// <summary>Consumers that are compiled ahead of time, or trimmed into one file.</summary>
[Trait("Category", "Slow")]
public sealed class PublishedConsumerTests
{
    /// <summary>
    /// What a program that uses a lease may have more than one that does nothing. docs/design/ahead-of-time.md says how to find out what
    /// has made it more.
    /// </summary>
    private const int MostAdded = 404 * 1024;

    [PackedFact]
    public async Task A_program_compiled_ahead_of_time_runs_reports_a_leak_and_stays_small()
    {
        string program = await Consumers.PublishAsync("Ahead"); // warnings are errors
        string empty = await Consumers.PublishAsync("Empty");

        Assert.Equal(["wrote 17 of 1000 bytes"], (await Programs.RunAsync(Repository.Root, Clones.None, program)).Lines);
        Dictionary<string, string> checks = new() { ["TIDEPOOL_CHECKS"] = "full,stacks,log" };
        Ended leaked = await Programs.RunAsync(Repository.Root, checks, program, "leak");
        Assert.Equal(["wrote 17 of 1000 bytes", "a leak of pool 'uploads'"], leaked.Lines);
        Assert.Contains("   at Uploads.Forget(", leaked.Errors, StringComparison.Ordinal);
        long added = new FileInfo(program).Length - new FileInfo(empty).Length;
        Assert.InRange(added, 1, MostAdded);
    }

    [PackedFact]
    public async Task A_trimmed_program_is_one_file_but_for_the_native_library()
    {
        string program = await Consumers.PublishAsync("Trimmed", "-r", RuntimeInformation.RuntimeIdentifier);

        Ended ran = await Programs.RunAsync(Repository.Root, Clones.None, program);
        Assert.Equal(["a stream of 11 bytes", "10000 native bytes"], ran.Lines);
        Assert.Equal(
            ["Trimmed", "libtidepool.so"],
            Directory.GetFiles(Path.GetDirectoryName(program)!).Select(Path.GetFileName)
                .Where(static file => !file!.EndsWith(".pdb", StringComparison.Ordinal)).Order(StringComparer.Ordinal));
    }
}
