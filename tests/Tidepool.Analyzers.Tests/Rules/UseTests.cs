using Tidepool.Analyzers.Tests.Harness;

namespace Tidepool.Analyzers.Tests.Rules;

/// <summary>The rules on which pool, which elements, which thread and which length.</summary>
public sealed class UseTests
{
    [Theory]
    [InlineData("byte[] a = One.Rent(n); {|POOL006:Two.Return(a)|};")]
    [InlineData("byte[] a = One.Rent(n); {|POOL006:ArrayPool<byte>.Shared.Return(a)|};")]
    [InlineData("byte[] a = One.Rent(n); One.Return(a);")]
    [InlineData("byte[] a = One.Rent(n); Given.Return(a);")]
    [InlineData("byte[] a = ArrayPool<byte>.Shared.Rent(n); Same.Return(a);")]
    public void Returned_to_another_pool(string body) => Verify(body);

    [Theory]
    [InlineData("byte[] a = One.Rent(n); int r = stream.Read(a, 0, n); stream.Write({|POOL008:a|}); One.Return(a);")]
    [InlineData("var a = One.Rent(n); stream.Read(a, 0, n); Console.Write(Encoding.UTF8.GetString({|POOL008:a|})); One.Return(a);")]
    [InlineData("var a = One.Rent(n); stream.Read(a, 0, n); foreach (byte b in {|POOL008:a|}) { stream.Flush(); } One.Return(a);")]
    [InlineData("byte[] a = One.Rent(4096); stream.Write(a); One.Return(a);")]
    [InlineData("byte[] a = One.Rent(n); Random.Shared.NextBytes(a); stream.Write(a); One.Return(a);")]
    [InlineData("byte[] a = One.Rent(n); int r = stream.Read(a); stream.Write(a, 0, r); One.Return(a);")]
    public void Whole_arrays(string body) => Verify(body);

    [Theory]
    [InlineData("byte[] a = {|POOL011:One.Rent(64)|}; a[0] = 1; stream.Write(a, 0, 64); One.Return(a);")]
    [InlineData("byte[] a = {|POOL012:Same.Rent(81920)|}; stream.ReadExactly(a, 0, 81920); Same.Return(a);")]
    [InlineData("byte[] a = One.Rent(81920); stream.ReadExactly(a, 0, 81920); One.Return(a);")]
    [InlineData("for (int i = 0; i < n; i++) { byte[] a = One.Rent(64); a[0] = 1; One.Return(a); }")]
    [InlineData("byte[] a = One.Rent(100_000); stream.ReadExactly(a, 0, 100_000); One.Return(a);")]
    public void Constant_lengths(string body) => Verify(body);

    [Fact]
    public void A_field_that_still_holds_what_was_returned() => Analysis.Verify(
        """
        class Kept
        {
            byte[]? _array = ArrayPool<byte>.Shared.Rent(500);

            public void Reset()
            {
                if (_array != null)
                {
                    {|POOL007:ArrayPool<byte>.Shared.Return(_array)|};
                }
            }

            public void Clear()
            {
                if (_array != null)
                {
                    ArrayPool<byte>.Shared.Return(_array);
                    _array = null;
                }
            }
        }
        """);

    [Fact]
    public void Code_that_is_marked_secret_clears() => Analysis.Verify(
        """
        [Secret]
        class Keys
        {
            static void Plain(Stream stream, int n)
            {
                byte[] a = ArrayPool<byte>.Shared.Rent(n);
                stream.ReadExactly(a, 0, n);
                {|POOL010:ArrayPool<byte>.Shared.Return(a)|};
            }

            static void Cleared(Stream stream, int n)
            {
                byte[] a = ArrayPool<byte>.Shared.Rent(n);
                stream.ReadExactly(a, 0, n);
                ArrayPool<byte>.Shared.Return(a, clearArray: true);
            }

            static void ByHand(Stream stream, int n)
            {
                byte[] a = ArrayPool<byte>.Shared.Rent(n);
                stream.ReadExactly(a, 0, n);
                a.AsSpan(0, n).Clear();
                ArrayPool<byte>.Shared.Return(a);
            }
        }
        """);

    private static void Verify(string body) => Analysis.Verify(
        $$"""
        class Sample
        {
            static readonly ArrayPool<byte> One = ArrayPool<byte>.Create();
            static readonly ArrayPool<byte> Two = ArrayPool<byte>.Create();
            static readonly ArrayPool<byte> Same = ArrayPool<byte>.Shared;
            static ArrayPool<byte> Given = ArrayPool<byte>.Create();

            static void Run(Stream stream, int n)
            {
                {{body}}
            }
        }
        """);
}
