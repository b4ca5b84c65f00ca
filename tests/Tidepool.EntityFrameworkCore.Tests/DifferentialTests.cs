using System.Reflection;
using System.Text.RegularExpressions;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>
/// Each of the <see cref="Scenarios"/> over the provider's own pool and over ours: the same results, exceptions, and the same log, with
/// its statements, their values, transactions and connections.
/// </summary>
[Collection(PostgresServer.Collection)]
public sealed partial class DifferentialTests(PostgresServer server)
{
    public static TheoryData<string, bool> Names => Of(typeof(Scenarios));

    public static TheoryData<string, bool> ServerNames => Of(typeof(ServerScenarios));

    [Theory]
    [MemberData(nameof(Names))]
    public Task On_SQLite(string name, bool isAsync) => CompareAsync(typeof(Scenarios), name, isAsync, static () => new SqliteDatabase());

    [PostgresTheory]
    [MemberData(nameof(Names))]
    public Task On_PostgreSQL(string name, bool isAsync) =>
        CompareAsync(typeof(Scenarios), name, isAsync, () => new PostgresDatabase(server.Cluster));

    [PostgresTheory]
    [MemberData(nameof(ServerNames))]
    public Task On_a_server(string name, bool isAsync) =>
        CompareAsync(typeof(ServerScenarios), name, isAsync, () => new PostgresDatabase(server.Cluster));

    [Fact]
    public void There_are_at_least_60_scenarios() =>
        Assert.InRange((Names.Count + ServerNames.Count) / 2, 60, int.MaxValue);

    private static TheoryData<string, bool> Of(Type scenarios)
    {
        var data = new TheoryData<string, bool>();
        foreach (MethodInfo method in scenarios.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly))
        {
            data.Add(method.Name, false);
            data.Add(method.Name, true);
        }

        return data;
    }

    private static async Task CompareAsync(Type scenarios, string name, bool isAsync, Func<TestDatabase> newDatabase)
    {
        MethodInfo scenario = scenarios.GetMethod(name)!;
        List<string> theirs = await RunAsync(scenario, isAsync, newDatabase(), isOurs: false);
        List<string> ours = await RunAsync(scenario, isAsync, newDatabase(), isOurs: true);
        Assert.NotEmpty(theirs);
        int same = theirs.Zip(ours).TakeWhile(static pair => pair.First == pair.Second).Count();
        Assert.True(
            same == theirs.Count && same == ours.Count,
            $"After {same} equal lines the provider's pool goes on with\n{End(theirs, same)}\nand ours with\n{End(ours, same)}");
    }

    [GeneratedRegex(@"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*")]
    private static partial Regex Moment();

    private static string End(List<string> lines, int from) =>
        string.Join('\n', lines.Skip(Math.Max(0, from - 3)).Take(9));

    private static async Task<List<string>> RunAsync(MethodInfo scenario, bool isAsync, TestDatabase database, bool isOurs)
    {
        await using (database)
        {
            await database.FillAsync();
            await using PooledDbDataSource source = database.NewPool(4);
            var run = new Run(database, isOurs ? source : null, isAsync);
            await (Task)scenario.Invoke(null, [run])!;
            if (isOurs)
            {
                Assert.Equal(0, source.GetStatistics().Leased);
            }

            string place = database.Place;
            return [.. run.Transcript.Select(line => Moment().Replace(line.Replace(place, "*", StringComparison.Ordinal), "*"))];
        }
    }
}
