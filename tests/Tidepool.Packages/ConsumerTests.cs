namespace Tidepool.Packages;

/// <summary>Projects that know the packages only: they are restored from the folder, built and run.</summary>
[Trait("Category", "Slow")]
public sealed class ConsumerTests
{
    [PackedFact]
    public async Task A_console_program_with_managed_and_native_memory() => Assert.Equal(
        ["wrote 17 of 1000 bytes", "DoubleReturn", "1000 native floats, the last is 0.5"],
        await Consumers.RunAsync("Console"));

    [PackedFact]
    public async Task A_program_in_FSharp() => Assert.Equal(
        ["wrote 17 of 1000 bytes", "a stream of 11 bytes"],
        await Consumers.RunAsync("FSharp"));

    [PackedFact]
    public async Task A_worker() => Assert.Equal(
        ["a buffer of 1000 bytes from pool 'work'"],
        await Consumers.RunAsync("Worker"));

    [PackedFact]
    public async Task A_web_program() => Assert.Equal(
        ["200: 17 bytes", "Healthy", "SlabMemoryPoolFactory"],
        await Consumers.RunAsync("Web"));

    [PackedFact]
    public async Task Contexts_of_Entity_Framework_Core() => Assert.Equal(
        ["an order of 42, 0 sessions rented"],
        await Consumers.RunAsync("Contexts"));
}
