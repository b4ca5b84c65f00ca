using System.Reflection;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Tidepool.Data;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>Sections of a configuration: complete, with the defaults of the options, bound, and checked at start.</summary>
[Collection("Pools with plain names")] // two live pools never have one name
public sealed class SectionTests
{
    [Fact]
    public void Sections_have_every_option_that_text_can_say_with_the_same_default()
    {
        var buffers = new BufferPoolSection();
        Compare(new BufferPoolOptions<byte>(), buffers.ToOptions<byte>(null!, null), buffers, "Source", "Sizes");
        Compare(new ObjectPoolOptions(), new ObjectPoolSection().ToOptions(null), new ObjectPoolSection());
        Compare(new PooledMemoryStreamOptions(), new StreamPoolSection().ToOptions(), new StreamPoolSection(), "Pool");
        string[] code = ["TimeProvider", "MeterFactory"];
        var one = new ResourcePoolSection { MaxSize = 1 };
        Compare(new ResourcePoolOptions { MaxSize = 1 }, one.ToOptions(null!, null), one, code);
        Compare(new PooledDbOptions().Pool, new DbPoolSection().ToOptions(null!, null), new DbPoolSection(), code);
        Compare(
            new PooledDbOptions(), new DbPoolSection().ToDbOptions(null!, null), new DbPoolSection(),
            "Pool", "Adapter", "InitializeSession", "InitializeSessionAsync");
        var keyed = new KeyedResourcePoolSection { MaxSize = 1, MaxTotal = 2 };
        Compare(
            new KeyedResourcePoolOptions<int> { PerKey = new() { MaxSize = 1 }, MaxTotal = 2 }, keyed.ToOptions<int>(null!, null), keyed,
            "PerKey", "MaxSizeOf", "Comparer");
    }

    [Fact]
    public void Every_value_of_a_section_reaches_the_options()
    {
        var buffers = new BufferPoolSection
        {
            Budget = 1, Clear = ClearMode.OnRent, Secrets = true, Alignment = 2, MaxLength = 3, Checks = PoolChecks.Full,
            CaptureStacks = true, LeakSampling = 4,
        };
        Differs(new BufferPoolOptions<byte>(), buffers.ToOptions<byte>("n", null), "Source", "Sizes");
        var objects = new ObjectPoolSection { Budget = 1, ItemBytes = 2, Checks = PoolChecks.Off, CaptureStacks = true, LeakSampling = 3 };
        Differs(new ObjectPoolOptions(), objects.ToOptions("n"));
        var streams = new StreamPoolSection { InitialSize = 1, MaxLength = 2, ZeroOnReturn = true, Budget = 3 };
        Differs(new PooledMemoryStreamOptions(), streams.ToOptions(), "Pool");
        var resources = new KeyedResourcePoolSection
        {
            MaxSize = 11, MinSize = 1, MinIdle = 2, MaxCreateConcurrency = 3, MaxWaiters = 4, RentTimeout = TimeSpan.FromSeconds(5),
            CreateTimeout = TimeSpan.FromSeconds(6), PolicyTimeout = TimeSpan.FromSeconds(7), ValidateAfterIdle = TimeSpan.FromSeconds(8),
            IdleTimeout = TimeSpan.FromSeconds(9), MaxLifetime = TimeSpan.FromSeconds(10), LifetimeJitter = 0.5,
            KeepAliveInterval = TimeSpan.FromSeconds(12), ReuseOrder = ReuseOrder.FirstIn, ResetMode = ResetMode.OnRent,
            BackoffMin = TimeSpan.FromSeconds(13), BackoffMax = TimeSpan.FromSeconds(14), LeakThreshold = TimeSpan.FromSeconds(15),
            LeakCapture = LeakCapture.Stack, ReclaimLeaks = true, MaxTotal = 16, MaxKeys = 17, StealIdleAcrossKeys = false,
        };
        Differs(new ResourcePoolOptions { MaxSize = 1 }, resources.ToOptions("n", null), "TimeProvider", "MeterFactory");
        Differs(
            new KeyedResourcePoolOptions<int> { PerKey = new() { MaxSize = 1 }, MaxTotal = 2 }, resources.ToOptions<int>("n", null),
            "MaxSizeOf", "Comparer");
        var db = new DbPoolSection
        {
            IgnoreAmbientTransactions = true, SessionPooler = SessionPooler.Session, DestroySessionAfterUnwrap = true,
            ResetWithNextStatement = true,
        };
        db.InitializeSessions(static _ => { }, static (_, _) => Task.CompletedTask);
        db.UseAdapter(DbAdapter.Generic);
        Differs(new PooledDbOptions(), db.ToDbOptions("n", null));
    }

    [Fact]
    public async Task A_configuration_is_bound_and_code_comes_after_it()
    {
        using IHost host = Build(
            static pools => pools
                .AddBufferPool<byte>("uploads")
                .AddResourcePool("smtp", static _ => new ClientPolicy(), static section => section.MinIdle = 1),
            ("Tidepool:Pools:uploads:Budget", "1000"),
            ("Tidepool:Pools:uploads:Clear", "OnReturn"),
            ("tidepool:pools:smtp:maxsize", "7"),
            ("Tidepool:Pools:smtp:MinIdle", "5"),
            ("Tidepool:Pools:smtp:RentTimeout", "00:00:02.5"));
        await host.StartAsync();
        BufferPoolSection uploads = host.Services.GetRequiredService<IOptionsMonitor<BufferPoolSection>>().Get("uploads");
        Assert.Equal((1000, ClearMode.OnReturn), (uploads.Budget, uploads.Clear));
        ResourcePoolSection smtp = host.Services.GetRequiredService<IOptionsMonitor<ResourcePoolSection>>().Get("smtp");
        Assert.Equal((7, 1, TimeSpan.FromSeconds(2.5)), (smtp.MaxSize, smtp.MinIdle, smtp.RentTimeout));
        Assert.Equal(7, host.Services.GetRequiredService<ResourcePool<Client>>().GetStatistics().MaxSize);
        await host.StopAsync();
    }

    [Theory]
    [InlineData("smtp:MaxSize", "0", "Tidepool:Pools:smtp:MaxSize is 0; allowed is 1 or more.")]
    [InlineData("smtp:MinSize", "9", "Tidepool:Pools:smtp:MinSize is 9; allowed is 0 to MaxSize (4).")]
    [InlineData("smtp:WarmUp", "5", "Tidepool:Pools:smtp:WarmUp is 5; allowed is 0 to MaxSize (4).")]
    [InlineData("smtp:ShutdownGrace", "-00:00:05", "Tidepool:Pools:smtp:ShutdownGrace is -00:00:05; allowed is 0 ms to 4294967294 ms, ")]
    [InlineData("smtp:LifetimeJitter", "1.5", "Tidepool:Pools:smtp:LifetimeJitter is 1.5; allowed is 0 to 1.")]
    [InlineData("hosts:MaxTotal", "0", "Tidepool:Pools:hosts:MaxTotal is 0; allowed is 1 or more.")]
    [InlineData("hosts:MinIdle", "1", "Tidepool:Pools:hosts:MinIdle is 1; allowed is 0 with keys")]
    [InlineData("uploads:Budget", "-1", "Tidepool:Pools:uploads:Budget must be 0 bytes or more. It is -1.")]
    [InlineData("lists:ItemBytes", "0", "Tidepool:Pools:lists:ItemBytes must be 1 or more. It is 0.")]
    [InlineData("reports:MaxLength", "-2", "Tidepool:Pools:reports:MaxLength must be 0 to ")]
    [InlineData("orders:SessionPooler", "9", "Tidepool:Pools:orders:SessionPooler is 9; allowed is ")]
    [InlineData("hosts:WarmUp", "1", "Tidepool:Pools:hosts:WarmUp is 1; allowed is 0 with keys, because a pool has no key before")]
    [InlineData("smtp:MaxSize", "many", "Tidepool:Pools:smtp:MaxSize is 'many'; allowed is a whole number up to 2147483647, 1 or more.")]
    [InlineData("smtp:maxsize", "3000000000", "Tidepool:Pools:smtp:MaxSize is '3000000000'; allowed is a whole number up to 2147483647, ")]
    [InlineData("smtp:LifetimeJitter", "half", "Tidepool:Pools:smtp:LifetimeJitter is 'half'; allowed is a number, 0 to 1.")]
    [InlineData("smtp:RentTimeout", "soon", "Tidepool:Pools:smtp:RentTimeout is 'soon'; allowed is a time, written hours:minutes:seconds")]
    [InlineData("smtp:RentTimeout", "30", "Tidepool:Pools:smtp:RentTimeout is '30'; allowed is a time, written hours:minutes:seconds")]
    [InlineData("smtp:IdleTimeout", "-1", "Tidepool:Pools:smtp:IdleTimeout is '-1'; allowed is a time, written hours:minutes:seconds")]
    [InlineData("smtp:MaxLifetime", "24:00:00", "Tidepool:Pools:smtp:MaxLifetime is '24:00:00'; allowed is a time, written hours:")]
    [InlineData("smtp:RentTimeout:Seconds", "5", "Tidepool:Pools:smtp:RentTimeout has keys below it; allowed is one value.")]
    [InlineData("smtp:ReuseOrder", "Random", "Tidepool:Pools:smtp:ReuseOrder is 'Random'; allowed is LastIn or FirstIn.")]
    [InlineData("smtp:ReclaimLeaks", "maybe", "Tidepool:Pools:smtp:ReclaimLeaks is 'maybe'; allowed is true or false.")]
    [InlineData("uploads:Budget", "lots", "Tidepool:Pools:uploads:Budget is 'lots'; allowed is a whole number up to 9223372036854775807.")]
    [InlineData("smtp:MaxSise", "4", "Tidepool:Pools:smtp:MaxSise is no option of this pool. Did you mean MaxSize?")]
    [InlineData("reports:Size", "4", "reports:Size is no option of this pool. Its options are: Budget, InitialSize, MaxLength, ")]
    [InlineData("aligned:Alignment", "48", "aligned:Alignment is 48; allowed is 0 or a power of two that the source promises.")]
    [InlineData("reports", "4", "Tidepool:Pools:reports is '4'; allowed are the keys of options below it.")]
    public async Task A_wrong_value_stops_the_start_and_names_key_value_and_range(string key, string value, string message)
    {
        using IHost host = Build(
            static pools => pools
                .AddBufferPool<byte>("uploads")
                .AddObjectPool("lists", static _ => new object())
                .AddStreamPool("reports")
                .AddBufferPool<byte>("aligned", source: static _ => new SlabSource<byte>())
                .AddResourcePool("smtp", static _ => new ClientPolicy())
                .AddKeyedResourcePool<int, Client>("hosts", static (_, _) => new ClientPolicy())
                .AddDbDataSource("orders", Microsoft.Data.Sqlite.SqliteFactory.Instance),
            ("ConnectionStrings:orders", "Data Source=:memory:"),
            ("Tidepool:Pools:smtp:MaxSize", "4"),
            ("Tidepool:Pools:hosts:MaxSize", "1"),
            ("Tidepool:Pools:hosts:MaxTotal", "4"),
            ("Tidepool:Pools:" + key, value));
        OptionsValidationException refusal = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());
        Assert.Contains(message, refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("(Parameter", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_a_source_promises_is_allowed_in_a_section()
    {
        using IHost host = Build(
            static pools => pools.AddBufferPool<byte>("aligned", source: static _ => new SlabSource<byte>()),
            ("Tidepool:Pools:aligned:Alignment", "64"));
        await host.StartAsync();
        using (BufferLease<byte> lease = host.Services.GetRequiredService<BufferPool<byte>>().Rent(100))
        {
            Assert.Equal(100, lease.Length);
        }

        await host.StopAsync();
    }

    [Theory]
    [InlineData("0", 0)]
    [InlineData("00:00:02.5", 2_500)]
    [InlineData("0:30", 1_800_000)]
    [InlineData("23:59:59", 86_399_000)]
    [InlineData("1.12:00:00", 129_600_000)]
    [InlineData("-00:00:00.001", -1)]
    [InlineData("", 15_000)]
    public void A_time_is_read_as_it_is_written(string text, int milliseconds)
    {
        using IHost host = Build(
            static pools => pools.AddResourcePool("smtp", static _ => new ClientPolicy(), static section => section.MaxSize = 1),
            ("Tidepool:Pools:smtp:RentTimeout", text));
        TimeSpan time = host.Services.GetRequiredService<IOptionsMonitor<ResourcePoolSection>>().Get("smtp").RentTimeout;
        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), time);
    }

    [Fact]
    public void The_range_that_an_unreadable_number_is_told_is_the_one_that_is_checked()
    {
        foreach ((string option, string range) in SectionValues.Ranges)
        {
            using IHost host = Build(
                static pools => pools.AddKeyedResourcePool<int, Client>("hosts", static (_, _) => new ClientPolicy()),
                ("Tidepool:Pools:hosts:MaxSize", "1"), ("Tidepool:Pools:hosts:MaxTotal", "4"), ($"Tidepool:Pools:hosts:{option}", "-5"));
            string checkedRange = Assert.Throws<OptionsValidationException>(
                () => host.Services.GetRequiredService<IOptionsMonitor<KeyedResourcePoolSection>>().Get("hosts")).Message;
            Assert.StartsWith($"Tidepool:Pools:hosts:{option} is -5; allowed is {range}", checkedRange, StringComparison.Ordinal);
        }
    }

    private static IHost Build(Action<TidepoolBuilder> add, params (string Key, string Value)[] settings)
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        foreach ((string key, string value) in settings)
        {
            builder.Configuration[key] = value; // of two with the same key the last counts
        }

        add(builder.Services.AddTidepool());
        return builder.Build();
    }

    private static void Compare<TOptions, TSection>(TOptions defaults, TOptions made, TSection section, params string[] inCode)
    {
        foreach (PropertyInfo option in typeof(TOptions).GetProperties().Where(p => p.Name != "Name" && !inCode.Contains(p.Name)))
        {
            Assert.True(typeof(TSection).GetProperty(option.Name) is { CanWrite: true }, $"{typeof(TSection).Name} lacks {option.Name}");
            Assert.Equal(option.GetValue(defaults), option.GetValue(made));
        }

        Assert.NotNull(section);
    }

    private static void Differs<TOptions>(TOptions defaults, TOptions made, params string[] inCode)
    {
        foreach (PropertyInfo option in typeof(TOptions).GetProperties().Where(p => !inCode.Contains(p.Name)))
        {
            Assert.True(!Equals(option.GetValue(defaults), option.GetValue(made)), $"{option.Name} is lost on its way");
        }
    }
}
