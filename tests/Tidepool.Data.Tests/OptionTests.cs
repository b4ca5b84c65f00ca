using System.Diagnostics.Metrics;
using System.Reflection;

namespace Tidepool.Data.Tests;

/// <summary>An option of resource pools is one of pooled connections too, and is passed on.</summary>
public sealed class OptionTests
{
    /// <summary>What is for the data source alone; its name reaches the pool as an argument.</summary>
    private static readonly string[] Own =
    [
        nameof(PooledDbOptions.Name),
        nameof(PooledDbOptions.Adapter),
        nameof(PooledDbOptions.IgnoreAmbientTransactions),
        nameof(PooledDbOptions.SessionPooler),
        nameof(PooledDbOptions.EndSessionAfterUnwrap),
        nameof(PooledDbOptions.InitializeSession),
        nameof(PooledDbOptions.InitializeSessionAsync),
    ];

    [Fact]
    public void Every_option_of_a_resource_pool_is_an_option_of_pooled_connections()
    {
        Assert.Equal(
            Settable(typeof(ResourcePoolOptions<DbSession>)).Where(static p => p.Name != nameof(PooledDbOptions.Name)).Select(Describe).Order(),
            Settable(typeof(PooledDbOptions)).Where(static p => !Own.Contains(p.Name)).Select(Describe).Order());

        static string Describe(PropertyInfo property) => $"{property.PropertyType} {property.Name}";
    }

    [Fact]
    public void Every_option_is_passed_on_to_the_pool_of_sessions()
    {
        foreach (PropertyInfo property in Settable(typeof(PooledDbOptions)).Where(static p => !Own.Contains(p.Name)))
        {
            var options = new PooledDbOptions();
            object given = Another(property.PropertyType, property.GetValue(options));
            property.SetValue(options, given);
            ResourcePoolOptions<DbSession> passed = options.ForPool("name");
            Assert.True(given.Equals(passed.GetType().GetProperty(property.Name)!.GetValue(passed)), $"{property.Name} does not reach the pool");
        }

        Assert.Equal("name", new PooledDbOptions().ForPool("name").Name);
    }

    [Fact]
    public void The_defaults_of_the_options_are_those_of_a_resource_pool_but_for_the_size()
    {
        var options = new PooledDbOptions();
        var pool = new ResourcePoolOptions<DbSession> { MaxSize = 100 };
        foreach (PropertyInfo property in Settable(typeof(PooledDbOptions)).Where(static p => !Own.Contains(p.Name) && p.Name != nameof(PooledDbOptions.MaxSize)))
        {
            Assert.True(Equals(pool.GetType().GetProperty(property.Name)!.GetValue(pool), property.GetValue(options)), $"{property.Name} has another default");
        }
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
