using Tidepool.Analyzers.Tests.Harness;

namespace Tidepool.Analyzers.Tests;

/// <summary>POOL009 has no mutants, as no seed may hold a thread's handle in an asynchronous method: these are its cases.</summary>
public sealed class HeldAcrossAwaitTests
{
    [Theory]
    [InlineData("using ArrayScope<byte> scope = pool.RentScope(n); {|POOL009:await Task.Yield()|};")]
    [InlineData("using (ThreadHandle<byte> handle = pool.GetThreadHandle(n)) { {|POOL009:await Task.Yield()|}; }")]
    [InlineData("ArrayScope<byte> scope = pool.RentScope(n); {|POOL009:await Task.Yield()|}; scope.Dispose();")]
    [InlineData("while (n-- > 0) { using ArrayScope<byte> scope = pool.RentScope(n); {|POOL009:await Task.Yield()|}; }")]
    [InlineData("using ArrayScope<byte> scope = pool.RentScope(n); try { {|POOL009:await Task.Yield()|}; } finally { n++; }")]
    [InlineData("using ArrayScope<byte> scope = pool.RentScope(n); if (n > 1) { {|POOL009:await Task.Delay(n)|}; }")]
    public void What_belongs_to_a_thread_is_reported_at_the_await(string body) => Analysis.Verify(
        $$"""
        internal static class C
        {
            public static async Task M(BufferPool<byte> pool, int n)
            {
                {{body}}
            }
        }
        """);
}
