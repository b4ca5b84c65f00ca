using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

public sealed class ArrayScopeTests : PoolTest
{
    private readonly BufferPool<long> _pool;

    public ArrayScopeTests() => _pool = NewPool<long>(new() { Name = "scopes" });

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(5000)]
    public void A_scope_has_an_array_that_holds_the_length_and_a_span_of_exactly_it(int length)
    {
        using ArrayScope<long> scope = _pool.RentScope(length);
        Assert.Equal(length, scope.Length);
        Assert.Equal(length, scope.Span.Length);
        Assert.True(scope.Array.Length >= length);
        scope.Span.Fill(7);
        Assert.Equal(-1, scope.Array.AsSpan(0, length).IndexOfAnyExcept(7));
    }

    [Fact]
    public void The_closing_brace_returns_the_array()
    {
        long[] array;
        using (ArrayScope<long> scope = _pool.RentScope(100))
        {
            array = scope.Array;
            Assert.Equal(1, _pool.GetStatistics().Leased);
        }

        Assert.Equal(0, _pool.GetStatistics().Leased);
        using ArrayScope<long> again = _pool.RentScope(100);
        Assert.Same(array, again.Array);
    }

    [Fact]
    public void Nested_scopes_have_different_arrays()
    {
        using ArrayScope<long> outer = _pool.RentScope(100);
        using ArrayScope<long> inner = _pool.RentScope(100);
        Assert.NotSame(outer.Array, inner.Array);
    }

    [Fact]
    public void The_default_scope_disposes_silently()
    {
        ArrayScope<long> none = default;
        none.Dispose();
        Assert.Equal(0, none.Length);
    }

    [Fact]
    public void A_length_out_of_range_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>("length", () => _pool.RentScope(-1).Dispose());
        Assert.Throws<ArgumentOutOfRangeException>("length", () => _pool.RentScope(int.MaxValue).Dispose());
        Assert.Equal(0, _pool.GetStatistics().Rented);
    }

    [Fact]
    public void A_scope_of_a_type_with_references_is_cleared_when_it_ends()
    {
        BufferPool<string> pool = NewPool<string>();
        string[] array;
        using (ArrayScope<string> scope = pool.RentScope(20))
        {
            array = scope.Array;
            scope.Span.Fill("kept alive");
        }

        Assert.True(Array.TrueForAll(array, element => element is null));
    }

    [Fact]
    public void A_copied_scope_disposed_twice_in_a_row_is_caught()
    {
        PoolMisuseException misuse = Assert.Throws<PoolMisuseException>(() =>
        {
            ArrayScope<long> scope = _pool.RentScope(100);
            ArrayScope<long> copy = scope;
            scope.Dispose();
            copy.Dispose();
        });
        Assert.Equal(MisuseKind.DoubleReturn, misuse.Kind);
        using ArrayScope<long> first = _pool.RentScope(100);
        using ArrayScope<long> second = _pool.RentScope(100);
        Assert.NotSame(first.Array, second.Array);
    }
}
