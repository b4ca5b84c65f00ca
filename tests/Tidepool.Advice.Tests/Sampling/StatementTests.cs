using System.Buffers;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Text;

namespace Tidepool.Advice.Tests.Sampling;

/// <summary>What a statement makes, read from the code of this assembly.</summary>
public sealed class StatementTests
{
    private static readonly MemoryStream Content = new();
    private static readonly StringBuilder Text = new();
    private static readonly ArrayBufferWriter<int> Numbers = new();
    private static readonly List<long> Lines = [];

    [Theory]
    [InlineData(nameof(WriteToStream), "MemoryStream")]
    [InlineData(nameof(WriteToAnyStream), "MemoryStream")]
    [InlineData(nameof(AppendText), "StringBuilder")]
    [InlineData(nameof(AppendFormatted), "StringBuilder")]
    [InlineData(nameof(WriteLines), "StringBuilder")]
    [InlineData(nameof(WriteToWriter), "ArrayBufferWriter")]
    [InlineData(nameof(AddToList), "")]
    [InlineData(nameof(CallWhatAppends), "?[] StringBuilder")]
    [InlineData(nameof(SwitchAndAppend), "StringBuilder")]
    [InlineData(nameof(WriteNewArray), "MemoryStream System.Byte[]")]
    [InlineData(nameof(WriteWhatAnotherMade), "MemoryStream System.Byte[]")]
    [InlineData(nameof(WriteWhatIsUnknown), "?[] MemoryStream")]
    [InlineData(nameof(WriteToTwo), "MemoryStream StringBuilder")]
    [InlineData(nameof(CallWhatMakes), "StringBuilder System.Int32[]")]
    [InlineData(nameof(ResizeAndWrite), "?[] MemoryStream")]
    [InlineData(nameof(WriteWhatMayBeReplaced), "?[] MemoryStream")]
    [InlineData(nameof(WriteWhatAnInterfaceGives), "?[] MemoryStream")]
    [InlineData(nameof(WriteWhatADelegateGives), "?[] MemoryStream")]
    [InlineData(nameof(CallsItself), "StringBuilder")]
    [InlineData(nameof(CallsDeep), "?[] StringBuilder")]
    [InlineData(nameof(ReadOnlyProperties), "")]
    public void What_a_method_makes_is_told_by_its_calls(string method, string made) => Assert.Equal(made, MadeBy(method, 0, int.MaxValue));

    [Fact]
    public void Only_the_statement_at_the_place_counts()
    {
        MethodInfo method = typeof(StatementTests).GetMethod(nameof(TwoStatements), BindingFlags.Static | BindingFlags.NonPublic)!;
        using var assemblies = new AssemblyFiles();
        var lines = new LineReader(assemblies);
        SourceStatement[] statements =
        [
            .. Enumerable.Range(0, method.GetMethodBody()!.GetILAsByteArray()!.Length)
                .Select(offset => lines.Find(method.Module.FullyQualifiedName, method.MetadataToken, offset)).Distinct(),
        ];

        Assert.All(statements, static one => Assert.InRange(one.Start, 0, one.End - 1));
        Assert.Equal(statements[1..].Select(static one => one.Start), statements[..^1].Select(static one => one.End));
        string[] made = [.. statements.Select(one => MadeBy(method.Name, one.Start, one.End))];
        Assert.Equal(["MemoryStream", "StringBuilder"], made.Where(static one => !one.Contains(' ', StringComparison.Ordinal)));
        Assert.Contains("MemoryStream StringBuilder", made); // of a brace
    }

    [Fact]
    public void What_follows_a_table_of_jumps_is_read_whatever_the_jumps_are()
    {
        const int Distances = 100; // the lowest byte of a jump is also each instruction that has one byte
        var assembly = new PersistedAssemblyBuilder(new AssemblyName("Jumps"), typeof(object).Assembly);
        TypeBuilder type = assembly.DefineDynamicModule("Jumps").DefineType("Jumps");
        for (int distance = 0; distance < Distances; distance++)
        {
            ILGenerator code = type.DefineMethod(
                $"Jump{distance}", MethodAttributes.Static, typeof(void), [typeof(int), typeof(StringBuilder)]).GetILGenerator();
            Label end = code.DefineLabel();
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Switch, [.. Enumerable.Repeat(end, distance % 4 + 1)]);
            code.Emit(OpCodes.Ldarg_1);
            code.Emit(OpCodes.Ldc_I4_S, (sbyte)'x');
            code.Emit(OpCodes.Callvirt, typeof(StringBuilder).GetMethod(nameof(StringBuilder.Append), [typeof(char)])!);
            code.Emit(OpCodes.Pop);
            Enumerable.Range(0, distance).ToList().ForEach(_ => code.Emit(OpCodes.Nop));
            code.MarkLabel(end);
            code.Emit(OpCodes.Ret);
        }

        type.CreateType();
        string path = Path.GetTempFileName();
        try
        {
            assembly.Save(path);
            using var assemblies = new AssemblyFiles();
            var reader = new StatementReader(assemblies);
            Assert.All(
                Enumerable.Range(1, Distances),
                row => Assert.Equal(["StringBuilder"], reader.MadeBy(path, 0x0600_0000 + row, 0, int.MaxValue)));
        }
        finally
        {
            File.Delete(path);
        }
    }

    [Fact]
    public void What_is_no_assembly_or_no_method_has_none()
    {
        using var assemblies = new AssemblyFiles();
        var reader = new StatementReader(assemblies);
        string here = typeof(StatementTests).Assembly.Location;
        Assert.Empty(reader.MadeBy("", 0x0600_0001, 0, int.MaxValue));
        Assert.Empty(reader.MadeBy("/no/such/assembly.dll", 0x0600_0001, 0, int.MaxValue));
        Assert.Empty(reader.MadeBy(here, 0x06ff_ffff, 0, int.MaxValue));
        Assert.Empty(reader.MadeBy(here, 0x0100_0001, 0, int.MaxValue));
        Assert.Empty(reader.MadeBy(Path.ChangeExtension(here, ".pdb"), 0x0600_0001, 0, int.MaxValue));
    }

    private static string MadeBy(string name, int start, int end)
    {
        MethodInfo method = typeof(StatementTests).GetMethod(
            name, BindingFlags.Static | BindingFlags.NonPublic)!;
        using var assemblies = new AssemblyFiles();
        var reader = new StatementReader(assemblies);
        return string.Join(' ', reader.MadeBy(method.Module.FullyQualifiedName, method.MetadataToken, start, end));
    }

    private static void WriteToStream() => Content.Write("content"u8);

    private static void WriteToAnyStream(Stream stream) => stream.WriteByte(7);

    private static void AppendText() => Text.Append('x', 100).Append("end");

    private static void AppendFormatted() => Text.Append($"{Text.Length} characters");

    private static void WriteLines(StringWriter writer) => writer.Write('x');

    private static void WriteToWriter() => Numbers.GetSpan(100).Clear();

    private static void AddToList() => Lines.Add(1);

    private static void CallWhatAppends() => Twice(AppendText);

    private static void Twice(Action statement)
    {
        statement();
        AppendText();
    }

    private static void SwitchAndAppend()
    {
        string text = Lines.Count switch { 0 => "none", 1 => "one", 2 => "two", 3 => "three", 4 => "four", _ => "many" };
        double half = Lines.Count * 0.5;
        long large = 0x1234_5678_9abc;
        Text.Append(text).Append(half).Append(large);
    }

    private static byte[] s_bytes = [];

    private static void ResizeAndWrite()
    {
        Array.Resize(ref s_bytes, 2 * s_bytes.Length);
        Content.Write(s_bytes);
    }

    private static void WriteWhatMayBeReplaced(Encoder encoder) => Content.Write(encoder.Encode().Span);

    private static void WriteWhatAnInterfaceGives(IEncoder encoder) => Content.Write(encoder.Encode().Span);

    private static void WriteWhatADelegateGives(Func<ReadOnlyMemory<byte>> encode) => Content.Write(encode().Span);

    private static void CallsItself(int times)
    {
        if (times > 0)
        {
            CallsItself(times - 1);
            CallsItself(times - 2);
            CallsItself(times - 3);
        }

        Text.Append('x');
    }

    private static void CallsDeep() => One();

    private static void One() => Two();

    private static void Two() => Three();

    private static void Three()
    {
        Text.Append('x');
        Four();
    }

    private static void Four() => Lines.Clear();

    private interface IEncoder
    {
        ReadOnlyMemory<byte> Encode();
    }

    private class Encoder
    {
        public virtual ReadOnlyMemory<byte> Encode() => s_bytes;
    }

    private sealed class EmptyEncoder : Encoder
    {
        public override ReadOnlyMemory<byte> Encode() => default;
    }

    private static void WriteNewArray() => Content.Write(new byte[RuntimeFeature.IsDynamicCodeSupported ? 100 : 10]);

    private static void WriteWhatAnotherMade() => Content.Write(Encoding.UTF8.GetBytes("content"));

    private static void WriteWhatIsUnknown() => Content.Write(GC.AllocateUninitializedArray<byte>(10));

    private static void WriteToTwo()
    {
        Content.WriteByte(1);
        Text.Append('x');
    }

    private static void CallWhatMakes()
    {
        Text.Append('x');
        Make(100);
    }

    private static int[] Make(int length) => new int[length];

    private static long ReadOnlyProperties() => Content.Length + Text.Length + Lines.Count + Numbers.WrittenCount;

    private static void TwoStatements()
    {
        Content.WriteByte(1);
        Text.Append('x');
    }
}
