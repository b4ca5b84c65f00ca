using System.Reflection;
using System.Runtime.CompilerServices;

namespace Tidepool.Advice.Tests.Sampling;

public sealed class SymbolTests
{
    private static readonly CodeRange Low = new() { Start = 0x1000, Size = 0x20, Method = "Orders.Low" };
    private static readonly CodeRange High = new()
    {
        Start = 0x2000,
        Size = 0x10,
        Method = "Orders.High",
        Map = [(0, -2), (4, 0), (8, 6), (12, -3)], // prologue, two places, epilogue
    };

    private static readonly SymbolTable Table = new([High, Low]);

    [Theory]
    [InlineData(0x0fff, null)]
    [InlineData(0x1000, "Orders.Low")]
    [InlineData(0x101f, "Orders.Low")]
    [InlineData(0x1020, null)]
    [InlineData(0x200f, "Orders.High")]
    [InlineData(0x2010, null)]
    public void An_address_is_named_by_the_code_around_it(int address, string? method) =>
        Assert.Equal(method, Table.Find((ulong)address)?.Method);

    [Theory]
    [InlineData(0, 0)]
    [InlineData(5, 0)]
    [InlineData(8, 6)]
    [InlineData(15, 6)]
    public void An_instruction_has_the_place_before_it(int native, int intermediate) => Assert.Equal(intermediate, High.OffsetOf(native));

    [Fact]
    public void A_stack_gets_methods_and_equal_stacks_are_resolved_once()
    {
        ulong[] stack = [0x1004, 0x2000, 0x2010];
        var first = new RecordedSample { Type = "System.Byte[]", Size = 100, Stack = stack };
        RecordedSample[] samples = [first, first with { Size = 200, IsLarge = true }];
        var lifetimes = new Dictionary<RecordedSample, Lifetime> { [samples[1]] = new Lifetime(Fate.Kept, 7) };
        using var assemblies = new AssemblyFiles();
        var reader = new StackReader(Table, assemblies);
        SampleSlice slice = reader.Read(new RecordedSlice(new SampleSlice { Seconds = 2, LostEvents = 3 }, samples), lifetimes);
        Assert.Equal((2, 3), (slice.Seconds, slice.LostEvents));
        Assert.Same(slice.Samples[0].Stack, slice.Samples[1].Stack);
        Assert.Equal([null, new Lifetime(Fate.Kept, 7)], slice.Samples.Select(static sample => sample.Lifetime));
        Assert.Equal((200, true), (slice.Samples[1].Size, slice.Samples[1].IsLarge));

        // The second address is the end of the call before it, which is no code that is known.
        Assert.Equal(["Orders.Low", "?", "Orders.High"], slice.Samples[0].Stack.Select(static place => place.Method));
    }

    [Fact]
    public void Lines_come_from_the_symbols_beside_the_assembly()
    {
        MethodInfo method = typeof(SymbolTests).GetMethod(nameof(Here), BindingFlags.Static | BindingFlags.NonPublic)!;
        using var assemblies = new AssemblyFiles();
        var lines = new LineReader(assemblies);
        SourceStatement statement = lines.Find(method.Module.FullyQualifiedName, method.MetadataToken, 0);
        Assert.Equal(Here(), statement.Line);
        Assert.EndsWith("SymbolTests.cs", statement.File, StringComparison.Ordinal);
    }

    [Fact]
    public void What_has_no_symbols_has_no_line()
    {
        using var assemblies = new AssemblyFiles();
        var lines = new LineReader(assemblies);
        Assert.Equal(SourceStatement.Unknown, lines.Find("", 0x0600_0001, 0));
        Assert.Equal(SourceStatement.Unknown, lines.Find("/no/such/assembly.dll", 0x0600_0001, 0));
        Assert.Equal(SourceStatement.Unknown, lines.Find(typeof(object).Assembly.Location, 0x0600_0001, 0));
        Assert.Equal(SourceStatement.Unknown, lines.Find(typeof(SymbolTests).Assembly.Location, 0x06ff_ffff, 0));
        Assert.Equal(SourceStatement.Unknown, lines.Find(typeof(SymbolTests).Assembly.Location, 0x0100_0001, 0)); // no method
    }

    private static int Here() => Line();

    private static int Line([CallerLineNumber] int line = 0) => line;
}
