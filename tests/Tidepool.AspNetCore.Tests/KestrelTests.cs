using System.Buffers;
using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Tidepool.AspNetCore.Tests;

/// <summary>Kestrel on our memory: every request, every block, however the host was put together and however a request ends.</summary>
public sealed class KestrelTests
{
    // Longer than several blocks and no multiple of one.
    private const int BodyBytes = 100_003;

    public static TheoryData<string, HttpProtocols, bool> Protocols => new()
    {
        { "1.1", HttpProtocols.Http1, false },
        { "2.0", HttpProtocols.Http2, false },
        { "1.1", HttpProtocols.Http1, true },
        { "2.0", HttpProtocols.Http2, true },
    };

    public static TheoryData<string> Orders => ["host", "services", "after Kestrel", "twice"];

    [ServerTheory]
    [MemberData(nameof(Protocols))]
    public async Task Requests_are_served_from_our_blocks_and_all_come_back(string version, HttpProtocols protocols, bool isSecure)
    {
        await using Server server = await Server.StartAsync(protocols, isSecure, builder => builder.WebHost.UseTidepoolMemoryPool());
        using (HttpClient client = server.NewClient(Version.Parse(version)))
        {
            await Task.WhenAll(Enumerable.Range(0, 16).Select(caller => EchoAsync(client, caller, requests: 20)));
        }

        await server.StopAsync();
        AssertAllReturned(server);
    }

    [ServerFact]
    public async Task Several_endpoints_are_served_at_once_and_all_blocks_come_back()
    {
        (HttpProtocols, bool)[] endpoints =
            [(HttpProtocols.Http1, false), (HttpProtocols.Http2, false), (HttpProtocols.Http1AndHttp2, true), (HttpProtocols.Http1, true)];
        Version[] versions = [HttpVersion.Version11, HttpVersion.Version20, HttpVersion.Version20, HttpVersion.Version11];
        await using Server server = await Server.StartAsync(endpoints, builder => builder.WebHost.UseTidepoolMemoryPool());
        await Task.WhenAll(versions.Select(async (version, endpoint) =>
        {
            using HttpClient client = server.NewClient(version, endpoint);
            await Task.WhenAll(Enumerable.Range(0, 4).Select(caller => EchoAsync(client, caller, requests: 10)));
            await Task.WhenAll(Enumerable.Range(0, 4).Select(caller => AbortAsync(client, caller)));
        }));
        await server.StopAsync();
        AssertAllReturned(server);
    }

    [ServerTheory]
    [MemberData(nameof(Protocols))]
    public async Task Aborted_requests_keep_no_block(string version, HttpProtocols protocols, bool isSecure)
    {
        await using Server server = await Server.StartAsync(protocols, isSecure, builder => builder.WebHost.UseTidepoolMemoryPool());
        using (HttpClient client = server.NewClient(Version.Parse(version)))
        {
            await Task.WhenAll(Enumerable.Range(0, 16).Select(caller => AbortAsync(client, caller)));
            await EchoAsync(client, 0, requests: 1); // and the server goes on
        }

        await server.StopAsync();
        AssertAllReturned(server);
    }

    [ServerTheory]
    [MemberData(nameof(Orders))]
    public async Task Our_pool_is_used_once_the_server_is_chosen(string order)
    {
        await using Server server = await Server.StartAsync(HttpProtocols.Http1, isSecure: false, builder => Configure(builder, order));
        using (HttpClient client = server.NewClient(HttpVersion.Version11))
        {
            await EchoAsync(client, 0, requests: 1);
        }

        await server.StopAsync();
        AssertAllReturned(server);
    }

    [Theory]
    [MemberData(nameof(Orders))]
    public void There_is_one_factory_however_often_ours_is_registered(string order)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        Configure(builder, order);
        IServiceProvider services = builder.Build().Services;
        Assert.IsType<SlabMemoryPoolFactory>(Assert.Single(services.GetServices<IMemoryPoolFactory<byte>>()));
    }

    [ServerTheory]
    [InlineData("WebApplication")]
    [InlineData("empty WebApplication")]
    [InlineData("HostBuilder")]
    public async Task Our_pool_is_used_when_the_server_is_chosen_after_it(string kind)
    {
        using IHost host = BuildEarly(kind);
        Assert.IsType<SlabMemoryPoolFactory>(Assert.Single(host.Services.GetServices<IMemoryPoolFactory<byte>>()));
        await host.StartAsync();
        string address = host.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();
        using (var client = new HttpClient { BaseAddress = new Uri(address) })
        {
            Assert.Equal("SlabMemoryPool`1", await client.GetStringAsync("/"));
        }

        await host.StopAsync();
    }

    [ServerFact]
    public async Task A_factory_that_the_program_adds_afterwards_does_not_replace_ours_in_silence()
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new());
        builder.Services.AddTidepoolMemoryPool();
        builder.WebHost.UseKestrelCore().UseUrls("http://127.0.0.1:0");
        builder.Services.AddSingleton<IMemoryPoolFactory<byte>, OwnFactory>();
        await using WebApplication app = builder.Build();
        app.Run(static context => Task.CompletedTask);
        var error = await Assert.ThrowsAsync<InvalidOperationException>(() => app.StartAsync());
        Assert.Contains(nameof(OwnFactory), error.Message, StringComparison.Ordinal);
        Assert.Contains("leave the call out", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_host_without_our_pool_keeps_the_factory_of_its_server()
    {
        new ServiceCollection().AddTidepoolMemoryPool(); // hosts are watched now
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new());
        builder.WebHost.UseKestrelCore();
        var factory = builder.Build().Services.GetRequiredService<IMemoryPoolFactory<byte>>();
        Assert.Equal("PinnedBlockMemoryPoolFactory", factory.GetType().Name);
    }

    [ServerFact]
    public async Task Two_hosts_in_one_process_have_pools_of_their_own()
    {
        await using Server first = await Server.StartAsync(HttpProtocols.Http1, isSecure: false, b => b.WebHost.UseTidepoolMemoryPool());
        await using Server second = await Server.StartAsync(HttpProtocols.Http1, isSecure: false, b => b.WebHost.UseTidepoolMemoryPool(0));
        using HttpClient client = second.NewClient(HttpVersion.Version11);
        using (HttpClient other = first.NewClient(HttpVersion.Version11))
        {
            await EchoAsync(other, 1, requests: 2);
        }

        await EchoAsync(client, 2, requests: 2);
        await first.StopAsync();
        await EchoAsync(client, 3, requests: 2); // the end of one is not the end of the other
        await second.StopAsync();
        AssertAllReturned(first);
        AssertAllReturned(second);
        Assert.Empty(first.Pools.Intersect(second.Pools));
        Assert.Equal(0, second.Pools.Sum(static pool => pool.GetStatistics().BytesIdle)); // a budget of 0 keeps nothing
        Assert.All(first.Pools.Concat(second.Pools), pool => Assert.StartsWith("kestrel", pool.Name, StringComparison.Ordinal));
    }

    [ServerFact]
    public async Task The_sample_of_the_page_serves()
    {
        await using WebApplication app = Samples.PooledKestrel.Build("http://127.0.0.1:0");
        await app.StartAsync();
        using var client = new HttpClient { BaseAddress = new Uri(app.Urls.Single()) };
        Assert.Equal("rent, use, return", await client.GetStringAsync("/"));
        Assert.IsType<SlabMemoryPoolFactory>(app.Services.GetRequiredService<IMemoryPoolFactory<byte>>());
    }

    /// <summary>Puts our pool behind Kestrel, which the builder has chosen.</summary>
    private static void Configure(WebApplicationBuilder builder, string order)
    {
        switch (order)
        {
            case "host":
                builder.WebHost.UseTidepoolMemoryPool();
                break;
            case "services":
                builder.Services.AddTidepoolMemoryPool();
                break;
            case "after Kestrel":
                builder.WebHost.UseKestrelCore();
                builder.Services.AddTidepoolMemoryPool();
                break;
            default:
                builder.WebHost.UseTidepoolMemoryPool();
                builder.WebHost.UseKestrelCore();
                builder.WebHost.UseTidepoolMemoryPool();
                break;
        }
    }

    /// <summary>A host that says which kind of pool serves a request; our pool is registered before its server is chosen.</summary>
    private static IHost BuildEarly(string kind)
    {
        static void Configure(IWebHostBuilder web) => web.UseTidepoolMemoryPool().UseKestrelCore().UseUrls("http://127.0.0.1:0")
            .Configure(static app => app.Run(AnswerAsync));
        static Task AnswerAsync(HttpContext context) =>
            context.Response.WriteAsync(context.Features.Get<IMemoryPoolFeature>()!.MemoryPool.GetType().Name);
        switch (kind)
        {
            case "HostBuilder":
                return new HostBuilder().ConfigureWebHost(Configure).Build();
            default:
                WebApplicationBuilder builder =
                    kind == "WebApplication" ? WebApplication.CreateBuilder() : WebApplication.CreateEmptyBuilder(new());
                builder.WebHost.UseTidepoolMemoryPool();
                builder.WebHost.UseKestrelCore().UseUrls("http://127.0.0.1:0");
                WebApplication app = builder.Build();
                app.Run(AnswerAsync);
                return app;
        }
    }

    private static async Task EchoAsync(HttpClient client, int caller, int requests)
    {
        byte[] body = new byte[BodyBytes];
        new Random(caller).NextBytes(body);
        for (int i = 0; i < requests; i++)
        {
            using HttpResponseMessage response = await client.PostAsync("/", new ByteArrayContent(body));
            Assert.Equal(HttpStatusCode.OK, response.StatusCode);
            byte[] echo = await response.Content.ReadAsByteArrayAsync();
            Assert.True(body.AsSpan().SequenceEqual(echo));
        }
    }

    /// <summary>Sends the half of a body and goes away in the middle.</summary>
    private static async Task AbortAsync(HttpClient client, int caller)
    {
        using var gone = new CancellationTokenSource();
        using var request = new HttpRequestMessage(HttpMethod.Post, "/")
        {
            Content = new HalfContent(BodyBytes + caller, gone),
            Version = client.DefaultRequestVersion,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        await Assert.ThrowsAnyAsync<Exception>(() => client.SendAsync(request, HttpCompletionOption.ResponseContentRead, gone.Token));
    }

    /// <summary>Some connections end a moment after their client has gone: the returns are waited for, the count must be exact.</summary>
    private static void AssertAllReturned(Server server)
    {
        Assert.Equal(0, server.Foreign);
        Assert.NotEmpty(server.Pools);
        Assert.All(server.Pools, static pool =>
        {
            SpinWait.SpinUntil(() => pool.GetStatistics().Leased == 0, TimeSpan.FromSeconds(30));
            PoolStatistics statistics = pool.GetStatistics();
            Assert.Equal((0, 0), (statistics.Leased, statistics.Misuses));
            Assert.NotEqual(0, statistics.Rented);
        });
    }

    private sealed class HalfContent(int length, CancellationTokenSource gone) : HttpContent
    {
        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.WriteAsync(new byte[length / 2]);
            await stream.FlushAsync();
            await gone.CancelAsync();
            throw new IOException("The client has gone.");
        }

        protected override bool TryComputeLength(out long computed)
        {
            computed = length;
            return true;
        }
    }

    private sealed class OwnFactory : IMemoryPoolFactory<byte>
    {
        public MemoryPool<byte> Create(MemoryPoolOptions? options = null) => MemoryPool<byte>.Shared;
    }
}
