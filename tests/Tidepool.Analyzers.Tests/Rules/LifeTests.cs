using Microsoft.CodeAnalysis;
using Tidepool.Analyzers.Tests.Harness;

namespace Tidepool.Analyzers.Tests.Rules;

/// <summary>Returned twice, used late, never ended: where each is reported.</summary>
public sealed class LifeTests
{
    [Theory]
    [InlineData("var a = Arrays.Rent(n); Arrays.Return(a); {|POOL001:Arrays.Return(a)|};")]
    [InlineData("var l = pool.Rent(n); l.Return(); {|POOL001:l.Return()|};")]
    [InlineData("var l = pool.Rent(n); l.Dispose(); {|POOL001:l.Return()|};")]
    [InlineData("using ArrayScope<byte> s = pool.RentScope(n); {|POOL001:s.Dispose()|};")]
    [InlineData("byte[] a = array; Arrays.Return(a); {|POOL001:Arrays.Return(a)|};")]
    [InlineData("var a = Arrays.Rent(n); byte[] b = a; Arrays.Return(a); {|POOL001:Arrays.Return(b)|};")]
    public void A_second_return(string body) => Verify(body);

    [Theory]
    [InlineData("var l = pool.Rent(n); l.Return(); l.Dispose();")]
    [InlineData("using var l = pool.Rent(n); l.Return();")]
    [InlineData("var a = Arrays.Rent(n); if (n > 3) { Arrays.Return(a); } if (n <= 3) { Arrays.Return(a); }")]
    [InlineData("byte[]? a = Arrays.Rent(n); Arrays.Return(a); a = null; if (a != null) { Arrays.Return(a); }")]
    [InlineData("var a = Arrays.Rent(n); Arrays.Return(a); a = Arrays.Rent(n); Arrays.Return(a);")]
    public void A_return_that_is_the_only_one(string body) => Verify(body);

    [Theory]
    [InlineData("var a = Arrays.Rent(n); Arrays.Return(a); {|POOL002:a|}[0] = 1;")]
    [InlineData("var a = Arrays.Rent(n); Span<byte> s = a; Arrays.Return(a); {|POOL002:s|}.Clear();")]
    [InlineData("var a = Arrays.Rent(n); Memory<byte> m = a.AsMemory(1)[..2]; Arrays.Return(a); stream.Write({|POOL002:m|}.Span);")]
    [InlineData("var l = pool.Rent(n); l.Return(); {|POOL002:l|}.Span.Clear();")]
    [InlineData("var o = MemoryPool<byte>.Shared.Rent(n); var m = o.Memory; o.Dispose(); {|POOL002:m|}.Span.Clear();")]
    [InlineData("var l = pool.Rent(n); var s = l.Span; l.Dispose(); foreach (byte b in {|POOL002:s|}) { stream.WriteByte(b); }")]
    [InlineData("var w = new PooledBufferWriter<byte>(); w.Dispose(); {|POOL002:w|}.Write([1]);")]
    public void A_use_after_the_return(string body) => Verify(body);

    [Fact]
    public void A_finally_block_returns_what_leaves() => Analysis.Verify(
        """
        class Sample
        {
            static Memory<byte> Owner(int n)
            {
                using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(n);
                return {|POOL002:owner.Memory|};
            }

            static int First(int n)
            {
                using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(n);
                return owner.Memory.Span[0];
            }
        }
        """);

    [Theory]
    [InlineData("var l = {|POOL003:pool.Rent(n)|}; l.Span.Clear();")]
    [InlineData("{|POOL003:pool.Rent(n)|};")]
    [InlineData("IMemoryOwner<byte> o = {|POOL003:MemoryPool<byte>.Shared.Rent(n)|}; o.Memory.Span.Clear();")]
    [InlineData("var w = {|POOL003:new PooledBufferWriter<byte>()|}; w.Write([1]); stream.Write(w.WrittenSpan);")]
    [InlineData("for (int i = 0; i < n; i++) { var l = {|POOL003:pool.Rent(n)|}; if (i == 3) { continue; } l.Span.Clear(); }")]
    [InlineData("byte[] a = {|POOL004:Arrays.Rent(n)|}; stream.ReadExactly(a, 0, n);")]
    public void A_rental_that_stays_open(string body) => Verify(body);

    [Theory]
    [InlineData("try { array[0] = 1; Arrays.Return(array); } finally { {|POOL005:Arrays.Return(array)|}; }")]
    [InlineData("try { Arrays.Return(array); stream.Flush(); } catch (IOException) { {|POOL005:Arrays.Return(array)|}; }")]
    public void A_return_in_try_and_behind_it(string body) => Verify(body);

    [Fact]
    public void A_return_that_ends_the_try_is_not_met_by_the_catch() =>
        Verify("try { stream.Flush(); Arrays.Return(array); } catch (IOException) { Arrays.Return(array); }");

    private static void Verify(string body) => Analysis.Verify(CodeOf(body));

    private static string CodeOf(string body) =>
        $$"""
        class Sample
        {
            static readonly ArrayPool<byte> Arrays = ArrayPool<byte>.Shared;

            static void Run(BufferPool<byte> pool, Stream stream, byte[] array, int n)
            {
                {{body}}
            }
        }
        """;

    [Theory]
    [InlineData("var l = pool.Rent(n); if (l.Span[0] == 0) { return; } l.Dispose();", "POOL003")]
    [InlineData("for (int i = 0; i < n; i++) { var l = pool.Rent(n); if (i == 3) { continue; } l.Dispose(); }", "POOL003")]
    [InlineData("byte[] a = Arrays.Rent(n); if (a[0] == 0) { return; } Arrays.Return(a);", "POOL004")]
    public void A_rental_that_some_path_leaves_open_is_hidden(string body, string id)
    {
        Diagnostic found = Assert.Single(Analysis.RunWithHidden(CodeOf(body)));
        Assert.Equal((id, DiagnosticSeverity.Hidden), (found.Id, found.Severity));
    }
}
