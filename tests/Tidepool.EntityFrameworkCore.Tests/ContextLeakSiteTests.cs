using System.Runtime.CompilerServices;
using Microsoft.EntityFrameworkCore;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>A report of a session that a context holds names the program's method, not one of Entity Framework.</summary>
public sealed class ContextLeakSiteTests
{
    public static TheoryData<string> Ways => [.. Openings.Keys];

    private static Dictionary<string, Func<ShopContext, Task>> Openings { get; } = new()
    {
        [nameof(Opened)] = Opened,
        [nameof(OpenedAndAwaited)] = OpenedAndAwaited,
        [nameof(BegunAndAwaited)] = BegunAndAwaited,
        [nameof(ReadInPart)] = ReadInPart,
        [nameof(ReadInPartAndAwaited)] = ReadInPartAndAwaited,
    };

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_stack_begins_with_the_method_that_used_the_context(string way)
    {
        var database = new SqliteDatabase();
        await using (database)
        {
            await database.FillAsync();
            await using PooledDbDataSource source = database.NewPool(new PooledDbOptions
            {
                Pool = new() { MaxSize = 1, RentTimeout = TimeSpan.Zero, LeakCapture = LeakCapture.Stack },
            });
            await source.WarmUpAsync(1);
            await using var context = new ShopContext(database.Options(source));
            await Openings[way](context);

            PooledDbException refused = await Assert.ThrowsAsync<PooledDbException>(async () => await source.OpenConnectionAsync());

            string[] site = Assert.Single(refused.PoolError.OldestHolders).Split('\n');
            Assert.StartsWith($"   at {typeof(ContextLeakSiteTests).FullName}.{way}(", site[0], StringComparison.Ordinal);
            Assert.Contains($"{nameof(ContextLeakSiteTests)}.cs:line ", site[0], StringComparison.Ordinal);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Task Opened(ShopContext context)
    {
        context.Database.OpenConnection();
        return Task.CompletedTask;
    }

    private static async Task OpenedAndAwaited(ShopContext context) => await context.Database.OpenConnectionAsync();

    private static async Task BegunAndAwaited(ShopContext context) => await context.Database.BeginTransactionAsync();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Task ReadInPart(ShopContext context)
    {
        Assert.True(context.Customers.AsEnumerable().GetEnumerator().MoveNext());
        return Task.CompletedTask;
    }

    private static async Task ReadInPartAndAwaited(ShopContext context) =>
        Assert.True(await context.Customers.AsAsyncEnumerable().GetAsyncEnumerator().MoveNextAsync());
}
