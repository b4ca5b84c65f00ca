using Tidepool.Analyzers.Tests.Harness;
using Tidepool.CodeFixes;

namespace Tidepool.Analyzers.Tests.Fixes;

public sealed class RequestedLengthFixTests
{
    [Fact]
    public void A_span_a_memory_or_a_query_of_the_requested_length_takes_the_place() => Mending.Verify(
        new RequestedLengthFix(),
        """
        internal static class C
        {
            public static void Span(Stream stream, byte[] source)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(source.Length);
                source.CopyTo(array, 0);
                stream.Write({|POOL008:array|});
                ArrayPool<byte>.Shared.Return(array);
            }

            public static async Task Memory(Stream stream, int n)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(n);
                array.AsSpan(0, n).Clear();
                await stream.WriteAsync({|POOL008:array|});
                ArrayPool<byte>.Shared.Return(array);
            }
        }
        """,
        """
        internal static class C
        {
            public static void Span(Stream stream, byte[] source)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(source.Length);
                source.CopyTo(array, 0);
                stream.Write(array.AsSpan(0, source.Length));
                ArrayPool<byte>.Shared.Return(array);
            }

            public static async Task Memory(Stream stream, int n)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(n);
                array.AsSpan(0, n).Clear();
                await stream.WriteAsync(array.AsMemory(0, n));
                ArrayPool<byte>.Shared.Return(array);
            }
        }
        """);

    [Fact]
    public void A_length_that_changes_is_not_repeated() => Mending.VerifyNoOffer(
        new RequestedLengthFix(),
        """
        internal static class C
        {
            public static void M(Stream stream, int n)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(n);
                array.AsSpan(0, n).Clear();
                n++;
                stream.Write({|POOL008:array|});
                ArrayPool<byte>.Shared.Return(array);
            }
        }
        """);

    [Fact]
    public void A_property_may_give_another_length() => Mending.VerifyNoOffer(
        new RequestedLengthFix(),
        """
        internal static class C
        {
            public static void M(Stream stream, List<byte> list)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(list.Count);
                array.AsSpan(0, list.Count).Clear();
                stream.Write({|POOL008:array|});
                ArrayPool<byte>.Shared.Return(array);
            }
        }
        """);
}
