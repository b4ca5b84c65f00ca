namespace Tidepool.Native.Tests.Misuse;

public sealed class WriteAfterReturnFull : NativeMisuseTest
{
    protected override PoolChecks Mode => PoolChecks.Full;

    [Fact]
    public void A_write_through_a_stale_span_is_found_before_the_memory_is_used_again()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Span<int> stale = lease.Span;
        lease.Return();
        stale[42] = 1;
        PoolMisuseException? found = null;
        for (int i = 0; i < 200 && found is null; i++)
        {
            try
            {
                Pool.Rent(100).Return();
            }
            catch (PoolMisuseException misuse)
            {
                found = misuse;
            }
        }

        Assert.NotNull(found);
        Assert.Equal(MisuseKind.WriteAfterReturn, found.Kind);
        Assert.Contains("Element 42", found.Message, StringComparison.Ordinal);
        AssertNoTwoRenters();
    }
}
