using System.Data.Common;
using System.Runtime.CompilerServices;
using Dapper;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>A report names the program's method that opened the connection, whichever way it did.</summary>
public sealed class LeakSiteTests : IDisposable
{
    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    public static TheoryData<string> Ways => [.. Openings.Keys];

    private static Dictionary<string, Func<PooledDbDataSource, Task<IDisposable>>> Openings { get; } = new()
    {
        [nameof(Opened)] = Opened,
        [nameof(OpenedAndAwaited)] = OpenedAndAwaited,
        [nameof(OpenedByTheBaseClass)] = OpenedByTheBaseClass,
        [nameof(OpenedByTheBaseClassAndAwaited)] = OpenedByTheBaseClassAndAwaited,
        [nameof(MadeThenOpened)] = MadeThenOpened,
        [nameof(MadeThenOpenedAndAwaited)] = MadeThenOpenedAndAwaited,
        [nameof(Leased)] = Leased,
        [nameof(LeasedAndAwaited)] = LeasedAndAwaited,
    };

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_call_site_is_the_method_that_opened(string way)
    {
        await using PooledDbDataSource pool = await NewPoolAsync(LeakCapture.CallSite);
        IDisposable held = await Openings[way](pool);

        string site = await HolderAsync(pool);

        Assert.StartsWith($"   at {typeof(LeakSiteTests).FullName}.{way}(", site, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', site);
        held.Dispose();
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_stack_begins_with_the_method_that_opened(string way)
    {
        await using PooledDbDataSource pool = await NewPoolAsync(LeakCapture.Stack);
        IDisposable held = await Openings[way](pool);

        string site = await HolderAsync(pool);

        Assert.StartsWith($"   at {typeof(LeakSiteTests).FullName}.{way}(", site, StringComparison.Ordinal);
        Assert.Contains(nameof(A_stack_begins_with_the_method_that_opened), site, StringComparison.Ordinal);
        held.Dispose();
    }

    [Fact]
    public async Task A_call_site_of_a_library_is_its_method_and_the_stack_names_the_program()
    {
        await using PooledDbDataSource pool = await NewPoolAsync(LeakCapture.Stack);
        await using PooledDbConnection connection = pool.CreateConnection();
        IEnumerator<long> rows = connection.Query<long>("SELECT 1 UNION SELECT 2", buffered: false).GetEnumerator();
        Assert.True(rows.MoveNext());

        string[] site = (await HolderAsync(pool)).Split('\n');

        Assert.StartsWith("   at Dapper.", site[0], StringComparison.Ordinal);
        Assert.Contains(
            site,
            static frame =>
                frame.Contains(nameof(A_call_site_of_a_library_is_its_method_and_the_stack_names_the_program), StringComparison.Ordinal));
        rows.Dispose();
    }

    /// <summary>One session, idle; who comes second is refused at once.</summary>
    private async Task<PooledDbDataSource> NewPoolAsync(LeakCapture capture)
    {
        PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, RentTimeout = TimeSpan.Zero, LeakCapture = capture },
        });
        await pool.WarmUpAsync(1);
        return pool;
    }

    private static async Task<string> HolderAsync(PooledDbDataSource pool)
    {
        PooledDbException refused = await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        return Assert.Single(refused.PoolError.OldestHolders);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Task<IDisposable> Opened(PooledDbDataSource pool)
    {
        IDisposable opened = pool.OpenConnection();
        return Task.FromResult(opened);
    }

    private static async Task<IDisposable> OpenedAndAwaited(PooledDbDataSource pool) => await pool.OpenConnectionAsync();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Task<IDisposable> OpenedByTheBaseClass(DbDataSource pool)
    {
        IDisposable opened = pool.OpenConnection();
        return Task.FromResult(opened);
    }

    private static async Task<IDisposable> OpenedByTheBaseClassAndAwaited(DbDataSource pool) => await pool.OpenConnectionAsync();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Task<IDisposable> MadeThenOpened(PooledDbDataSource pool)
    {
        PooledDbConnection connection = pool.CreateConnection();
        connection.Open();
        return Task.FromResult<IDisposable>(connection);
    }

    private static async Task<IDisposable> MadeThenOpenedAndAwaited(PooledDbDataSource pool)
    {
        PooledDbConnection connection = pool.CreateConnection();
        await connection.OpenAsync();
        return connection;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Task<IDisposable> Leased(PooledDbDataSource pool)
    {
        IDisposable lease = pool.RentNative();
        return Task.FromResult(lease);
    }

    private static async Task<IDisposable> LeasedAndAwaited(PooledDbDataSource pool) => await pool.RentNativeAsync();
}
