using Tidepool.Analyzers.Tests.Harness;
using Tidepool.CodeFixes;

namespace Tidepool.Analyzers.Tests.Fixes;

public sealed class ClearOnReturnFixTests
{
    private const string Leaves =
        """
        internal static class C
        {
            [Secret]
            public static int M(ReadOnlySpan<byte> key)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
                key.CopyTo(array);
                int first = array[0];
                {|POOL010:ArrayPool<byte>.Shared.Return(array /* the key */)|};
                return first;
            }

            [Secret]
            public static int N(ReadOnlySpan<byte> key)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
                key.CopyTo(array);
                int first = array[0];
                {|POOL010:ArrayPool<byte>.Shared.Return(array, false)|};
                return first;
            }

            [Secret]
            public static int O(ReadOnlySpan<byte> key)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
                key.CopyTo(array);
                int first = array[0];
                {|POOL010:ArrayPool<byte>.Shared.Return(clearArray: false, array: array)|};
                return first;
            }
        }
        """;

    private const string Clears =
        """
        internal static class C
        {
            [Secret]
            public static int M(ReadOnlySpan<byte> key)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
                key.CopyTo(array);
                int first = array[0];
                ArrayPool<byte>.Shared.Return(array, clearArray: true /* the key */);
                return first;
            }

            [Secret]
            public static int N(ReadOnlySpan<byte> key)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
                key.CopyTo(array);
                int first = array[0];
                ArrayPool<byte>.Shared.Return(array, true);
                return first;
            }

            [Secret]
            public static int O(ReadOnlySpan<byte> key)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
                key.CopyTo(array);
                int first = array[0];
                ArrayPool<byte>.Shared.Return(clearArray: true, array: array);
                return first;
            }
        }
        """;

    [Fact]
    public void Every_return_of_secret_code_clears() => Mending.Verify(new ClearOnReturnFix(), Leaves, Clears);
}
