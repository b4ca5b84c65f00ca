using System.Diagnostics.Metrics;
using System.Reflection;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>A data source has the options of a resource pool, and adds what is about databases.</summary>
public sealed class OptionTests : IDisposable
{
    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public void No_option_is_there_twice()
    {
        string[] own = [.. Settable(typeof(PooledDbOptions)).Select(static p => p.Name)];
        Assert.Contains(nameof(PooledDbOptions.Pool), own);
        Assert.Empty(own.Intersect(Settable(typeof(ResourcePoolOptions)).Select(static p => p.Name)));
    }

    [Fact]
    public void Every_option_reaches_the_pool_of_sessions()
    {
        foreach (PropertyInfo property in Settable(typeof(ResourcePoolOptions)))
        {
            var pool = new ResourcePoolOptions { MaxSize = 100 };
            object given = Another(property.PropertyType, property.GetValue(pool));
            property.SetValue(pool, given);
            ResourcePoolOptions passed = new PooledDbOptions { Pool = pool }.ForPool("name");
            Assert.True(given.Equals(property.GetValue(passed)), $"{property.Name} does not reach the pool");
        }
    }

    [Fact]
    public void The_defaults_are_those_of_any_pool_but_for_the_size_and_the_name()
    {
        Assert.Equal(new ResourcePoolOptions { MaxSize = 100 }, new PooledDbOptions().Pool);
        Assert.Equal("name", new PooledDbOptions().ForPool("name").Name);
        Assert.Equal("mine", new PooledDbOptions { Pool = new() { MaxSize = 1, Name = "mine" } }.ForPool("name").Name);
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 3 } });
        Assert.EndsWith(Path.GetFileName(_file.Path), pool.Name, StringComparison.Ordinal);
        Assert.Equal((3, 15), (pool.GetStatistics().MaxSize, pool.CreateConnection().ConnectionTimeout));
    }

    [Fact]
    public void A_session_is_not_reset_behind_a_pooler_that_would_give_the_reset_to_another_one()
    {
        foreach (SessionPooler pooler in Enum.GetValues<SessionPooler>())
        {
            ResetMode expected = pooler == SessionPooler.Transaction ? ResetMode.None : ResetMode.OnReturn;
            var options = new PooledDbOptions { Pool = new() { MaxSize = 1, ResetMode = ResetMode.OnReturn }, SessionPooler = pooler };
            Assert.Equal(expected, options.ForPool("name").ResetMode);
        }
    }

    [Fact]
    public void A_missing_pool_is_named_with_what_is_allowed()
    {
        ArgumentNullException missing = Assert.Throws<ArgumentNullException>(() => _file.NewPool(new PooledDbOptions { Pool = null! }));
        Assert.Equal("options", missing.ParamName);
        Assert.StartsWith("Pool is null; allowed is ", missing.Message, StringComparison.Ordinal);
    }

    private static IEnumerable<PropertyInfo> Settable(Type type) =>
        type.GetProperties(BindingFlags.Public | BindingFlags.Instance).Where(static p => p.SetMethod is { IsPublic: true });

    /// <summary>A value of a type that is not the given one.</summary>
    private static object Another(Type type, object? value) => value switch
    {
        int number => number == int.MaxValue ? 7 : number + 1,
        double part => part / 2,
        bool isSet => !isSet,
        TimeSpan time => time + TimeSpan.FromSeconds(7),
        TimeProvider => new Clock(),
        Enum => Enum.GetValues(type).Cast<object>().First(other => !other.Equals(value)),
        null when type == typeof(string) => "another",
        null when type == typeof(IMeterFactory) => new Meters(),
        _ => throw new NotSupportedException($"This test knows no other {type}: add one."),
    };

    private sealed class Clock : TimeProvider;

    private sealed class Meters : IMeterFactory
    {
        public Meter Create(MeterOptions options) => new(options);

        public void Dispose()
        {
        }
    }
}
