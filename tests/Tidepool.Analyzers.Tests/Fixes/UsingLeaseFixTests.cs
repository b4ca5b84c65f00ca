using Tidepool.Analyzers.Tests.Harness;
using Tidepool.CodeFixes;

namespace Tidepool.Analyzers.Tests.Fixes;

public sealed class UsingLeaseFixTests
{
    [Fact]
    public void A_lease_gets_using_and_all_trivia_stay() => Mending.Verify(
        new UsingLeaseFix(),
        """
        internal static class C
        {
            public static int M(BufferPool<byte> pool, int n)
            {
                // rented for one read
                BufferLease<byte> lease = {|POOL003:pool.Rent(n)|}; // exactly n

                return lease.Span[0];
            }
        }
        """,
        """
        internal static class C
        {
            public static int M(BufferPool<byte> pool, int n)
            {
                // rented for one read
                using BufferLease<byte> lease = pool.Rent(n); // exactly n

                return lease.Span[0];
            }
        }
        """);

    [Fact]
    public void All_leases_of_a_file_are_mended_at_once() => Mending.Verify(
        new UsingLeaseFix(),
        """
        internal static class C
        {
            public static int M(BufferPool<byte> pool, int n)
            {
                var first = {|POOL003:pool.Rent(n)|};
                IMemoryOwner<byte> second = {|POOL003:MemoryPool<byte>.Shared.Rent(n)|};
                return first.Length + second.Memory.Length;
            }

            public static async Task<long> R(ResourcePool<MemoryStream> pool)
            {
                ResourceLease<MemoryStream> lease = await {|POOL003:pool.RentAsync()|};
                return lease.Value.Length;
            }
        }
        """,
        """
        internal static class C
        {
            public static int M(BufferPool<byte> pool, int n)
            {
                using var first = pool.Rent(n);
                using IMemoryOwner<byte> second = MemoryPool<byte>.Shared.Rent(n);
                return first.Length + second.Memory.Length;
            }

            public static async Task<long> R(ResourcePool<MemoryStream> pool)
            {
                using ResourceLease<MemoryStream> lease = await pool.RentAsync();
                return lease.Value.Length;
            }
        }
        """);

    [Fact]
    public void What_is_only_disposed_asynchronously_is_awaited() => Mending.Verify(
        new UsingLeaseFix(),
        """
        internal static class C
        {
            public static async Task<int> M(Stream stream)
            {
                AsyncLeaseScope scope = {|POOL003:new AsyncLeaseScope()|};
                await stream.FlushAsync();
                return scope.Count;
            }
        }
        """,
        """
        internal static class C
        {
            public static async Task<int> M(Stream stream)
            {
                await using AsyncLeaseScope scope = new AsyncLeaseScope();
                await stream.FlushAsync();
                return scope.Count;
            }
        }
        """);

    [Fact]
    public void A_local_that_is_assigned_again_cannot_be_using() => Mending.VerifyNoOffer(
        new UsingLeaseFix(),
        """
        internal static class C
        {
            public static int M(BufferPool<byte> pool, int n)
            {
                BufferLease<byte> lease = {|POOL003:pool.Rent(n)|};
                int length = lease.Length;
                lease = default;
                return length;
            }
        }
        """);

    [Fact]
    public void A_rental_without_a_local_has_nothing_to_put_using_at() => Mending.VerifyNoOffer(
        new UsingLeaseFix(),
        """
        internal static class C
        {
            public static void M(BufferPool<byte> pool, int n)
            {
                {|POOL003:pool.Rent(n)|};
            }
        }
        """);

    [Fact]
    public void A_lease_that_some_path_ends_is_left_alone() => Mending.VerifyNoOffer(
        new UsingLeaseFix(),
        """
        internal static class C
        {
            public static void M(BufferPool<byte> pool, int n)
            {
                BufferLease<byte> lease = pool.Rent(n);
                if (lease.Span[0] != 0)
                {
                    lease.Dispose();
                }
            }
        }
        """);

    [Fact]
    public void A_lease_seen_behind_the_block_is_not_disposed_at_its_end() => Mending.VerifyNoOffer(
        new UsingLeaseFix(),
        """
        internal static class C
        {
            public static int M(BufferPool<byte> pool, int n)
            {
                Memory<byte> memory = default;
                if (n > 0)
                {
                    BufferLease<byte> lease = {|POOL003:pool.Rent(n)|};
                    memory = lease.Memory;
                }

                return memory.Length;
            }
        }
        """);
}
