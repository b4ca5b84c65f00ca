namespace Tidepool.Advice.Tests.Advising;

public sealed class FrameRuleTests
{
    [Theory]
    [InlineData("Orders.Api.Handle(int32,class System.String)", "Orders.Api.Handle")]
    [InlineData("Orders.Api+<HandleAsync>d__3.MoveNext()", "Orders.Api.HandleAsync")]
    [InlineData("Program+<<Main>$>d__0.MoveNext()", "Program.Main")]
    [InlineData("Orders.Api+<>c.<Handle>b__4_0()", "Orders.Api.Handle (lambda)")]
    [InlineData("Orders.Api+<>c__DisplayClass4_0.<Handle>b__1(int32)", "Orders.Api.Handle (lambda)")]
    [InlineData("Program.<<Main>$>g__Work|0_3(int32)", "Program.Main (Work)")]
    [InlineData("Orders.Api+Inner.Handle()", "Orders.Api.Inner.Handle")]
    public void A_method_is_named_as_its_author_wrote_it(string method, string name) => Assert.Equal(name, FrameRules.Readable(method));

    [Fact]
    public void The_site_is_the_first_frame_of_the_program()
    {
        StackPlace[] stack = [Place("System.Private.CoreLib", "System.IO.MemoryStream.set_Capacity"), Place("Orders", "Api.Handle")];
        Assert.Equal("Api.Handle", FrameRules.UserFrame(stack)!.Method);
        Assert.Equal("MemoryStream", FrameRules.BuilderOf(stack, "System.Byte[]"));
        Assert.False(FrameRules.IsPoolMiss(stack));
        Assert.Null(FrameRules.BuilderOf([stack[1], stack[0]], "System.Byte[]"));
        Assert.Null(FrameRules.UserFrame([]));
    }

    [Theory]
    [InlineData(null, "System.Byte[]", "MemoryStream", "MemoryStream")]
    [InlineData("System.GC.AllocateUninitializedArray", "System.Char[]", "StringBuilder", "StringBuilder")]
    [InlineData("System.Array.Resize", "System.Int32[]", "ArrayBufferWriter", "ArrayBufferWriter")]
    [InlineData(null, "Orders.Line[]", "ArrayBufferWriter", "ArrayBufferWriter")]
    [InlineData(null, "System.Char[]", "MemoryStream", null)]
    [InlineData(null, "System.Byte[]", "StringBuilder", null)]
    [InlineData(null, "Orders.Line", "ArrayBufferWriter", null)]
    [InlineData(null, "System.Byte[]", "System.Int32[]", null)]
    [InlineData(null, "System.Byte[]", "MemoryStream System.Int32[] StringBuilder", "MemoryStream")]
    [InlineData(null, "System.Byte[]", "MemoryStream System.Byte[]", null)]
    [InlineData(null, "System.Byte[]", "?[] MemoryStream", null)]
    [InlineData(null, "System.Byte[]", "ArrayBufferWriter MemoryStream", null)]
    [InlineData("System.Text.Encoding.GetBytes", "System.Byte[]", "MemoryStream", null)]
    public void Without_its_frame_the_statement_tells_the_class(string? platform, string type, string makes, string? builder)
    {
        StackPlace user = Place("Orders", "Api.Handle") with { Makes = makes.Split(' ') };
        StackPlace[] stack = platform is null ? [user] : [Place("System.Private.CoreLib", platform), user];
        Assert.Equal(builder, FrameRules.BuilderOf(stack, type));
    }

    [Theory]
    [InlineData("Tidepool", "Tidepool.HeapSource`1.Create")]
    [InlineData("System.Private.CoreLib", "System.Buffers.SharedArrayPool`1[System.Byte].Rent")]
    [InlineData("System.Private.CoreLib", "System.Buffers.ConfigurableArrayPool`1[System.__Canon].Rent")]
    [InlineData("Microsoft.Extensions.ObjectPool", "Microsoft.Extensions.ObjectPool.DefaultObjectPool`1[System.__Canon].Get")]
    public void What_a_pool_makes_is_its_miss(string module, string method)
    {
        StackPlace[] stack = [Place(module, method), Place("Orders", "Api.Handle")];
        Assert.True(FrameRules.IsPoolMiss(stack));
        Assert.Equal("Api.Handle", FrameRules.UserFrame(stack)!.Method);
    }

    [Theory]
    [InlineData("System.Byte[]", "byte[]")]
    [InlineData("System.Collections.Generic.List`1[System.Int32]", "List<...>")]
    [InlineData("Orders.Message", "Message")]
    [InlineData("Orders.Message[]", "Message[]")]
    public void A_type_is_written_short(string type, string name) => Assert.Equal(name, TypeRules.Short(type));

    private static StackPlace Place(string module, string method) => new(module, method, "", 0);
}
