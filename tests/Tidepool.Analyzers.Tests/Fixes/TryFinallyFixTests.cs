using Tidepool.Analyzers.Tests.Harness;
using Tidepool.CodeFixes;

namespace Tidepool.Analyzers.Tests.Fixes;

public sealed class TryFinallyFixTests
{
    [Fact]
    public void What_follows_the_rental_goes_into_try() => Mending.Verify(
        new TryFinallyFix(),
        """
        internal static class C
        {
            public static int M(Stream stream, int n)
            {
                byte[] array = {|POOL004:ArrayPool<byte>.Shared.Rent(n)|}; // at least n

                // one read
                int read = stream.Read(array, 0, n);
                if (read > 0)
                {
                    read++;
                }

                return read;
            }
        }
        """,
        """
        internal static class C
        {
            public static int M(Stream stream, int n)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(n); // at least n

                try
                {
                    // one read
                    int read = stream.Read(array, 0, n);
                    if (read > 0)
                    {
                        read++;
                    }

                    return read;
                }
                finally
                {
                    ArrayPool<byte>.Shared.Return(array);
                }
            }
        }
        """);

    [Fact]
    public void Two_rentals_of_a_block_are_nested() => Mending.Verify(
        new TryFinallyFix(),
        """
        internal static class C
        {
            public static int M(ArrayPool<byte> pool, int n)
            {
                byte[] a = {|POOL004:pool.Rent(n)|};
                byte[] b = {|POOL004:pool.Rent(n)|};
                return a[0] + b[0];
            }
        }
        """,
        """
        internal static class C
        {
            public static int M(ArrayPool<byte> pool, int n)
            {
                byte[] a = pool.Rent(n);
                try
                {
                    byte[] b = pool.Rent(n);
                    try
                    {
                        return a[0] + b[0];
                    }
                    finally
                    {
                        pool.Return(b);
                    }
                }
                finally
                {
                    pool.Return(a);
                }
            }
        }
        """);

    [Fact]
    public void Texts_of_several_lines_keep_their_content() => Mending.Verify(
        new TryFinallyFix(),
        """"
        internal static class C
        {
        	public static string M(int n)
        	{
        		char[] array = {|POOL004:ArrayPool<char>.Shared.Rent(n)|};
        		/* first
        		   second */
        		string verbatim = @"one
        two " + $@"{n}
        three" + """
        			raw
        			""";
        		return verbatim + array[0];
        	}
        }
        """",
        """"
        internal static class C
        {
        	public static string M(int n)
        	{
        		char[] array = ArrayPool<char>.Shared.Rent(n);
        		try
        		{
        			/* first
        		   second */
        			string verbatim = @"one
        two " + $@"{n}
        three" + """
        			raw
        			""";
        			return verbatim + array[0];
        		}
        		finally
        		{
        			ArrayPool<char>.Shared.Return(array);
        		}
        	}
        }
        """");

    [Fact]
    public void An_object_of_a_pool_goes_back_by_its_own_method() => Mending.Verify(
        new TryFinallyFix(),
        """
        internal static class C
        {
            public static string M(Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> pool)
            {
                StringBuilder text = {|POOL004:pool.Get()|};
                return text.Capacity > 0 ? "" : "none";
            }

            public static int N(ObjectPool<StringBuilder> pool)
            {
                StringBuilder text = {|POOL004:pool.RentRaw()|};
                return text.Capacity;
            }
        }
        """,
        """
        internal static class C
        {
            public static string M(Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> pool)
            {
                StringBuilder text = pool.Get();
                try
                {
                    return text.Capacity > 0 ? "" : "none";
                }
                finally
                {
                    pool.Return(text);
                }
            }

            public static int N(ObjectPool<StringBuilder> pool)
            {
                StringBuilder text = pool.RentRaw();
                try
                {
                    return text.Capacity;
                }
                finally
                {
                    pool.ReturnRaw(text);
                }
            }
        }
        """);

    [Fact]
    public void Statements_that_share_a_line_are_left_alone() => Mending.VerifyNoOffer(
        new TryFinallyFix(),
        """
        internal static class C
        {
            public static int M(int n) { byte[] array = {|POOL004:ArrayPool<byte>.Shared.Rent(n)|}; return array[0]; }
        }
        """);

    [Fact]
    public void A_pool_that_a_call_gives_is_not_asked_twice() => Mending.VerifyNoOffer(
        new TryFinallyFix(),
        """
        internal static class C
        {
            private static ArrayPool<byte> Next() => ArrayPool<byte>.Create();

            public static int M(int n)
            {
                byte[] array = {|POOL004:Next().Rent(n)|};
                return array[0];
            }
        }
        """);

    [Fact]
    public void A_local_function_that_is_called_before_stays_where_it_is() => Mending.VerifyNoOffer(
        new TryFinallyFix(),
        """
        internal static class C
        {
            public static int M(int n)
            {
                int more = More();
                byte[] array = {|POOL004:ArrayPool<byte>.Shared.Rent(n)|};
                return array[0] + more;

                static int More() => 1;
            }
        }
        """);

    [Fact]
    public void An_array_that_some_path_returns_is_left_alone() => Mending.VerifyNoOffer(
        new TryFinallyFix(),
        """
        internal static class C
        {
            public static void M(ArrayPool<byte> pool, int n)
            {
                byte[] array = pool.Rent(n);
                if (array[0] != 0)
                {
                    pool.Return(array);
                }
            }
        }
        """);

    [Fact]
    public void A_local_that_gets_another_array_is_left_alone() => Mending.VerifyNoOffer(
        new TryFinallyFix(),
        """
        internal static class C
        {
            public static int M(ArrayPool<byte> pool, int n)
            {
                byte[] array = {|POOL004:pool.Rent(n)|};
                int first = array[0];
                array = [];
                return first + array.Length;
            }
        }
        """);
}
