using System.Data.Common;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Tidepool;

namespace Samples;

/// <summary>A worker whose pools come from its host. A web program registers them in the same way.</summary>
public static class PoolsInHost
{
    public static async Task RunAsync(TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            // As appsettings.json has it, or the environment: Tidepool__Pools__orders__MaxSize=20.
            ["ConnectionStrings:orders"] = "Data Source=:memory:",
            ["Tidepool:Pools:orders:MaxSize"] = "20",
            ["Tidepool:Pools:orders:WarmUp"] = "2",
            ["Tidepool:Pools:uploads:Budget"] = "10000000",
        });

        builder.Services.AddTidepool()
            .AddBufferPool<byte>("uploads")
            .AddDbDataSource("orders", SqliteFactory.Instance)
            .AddObjectPools();

        builder.Services.AddHealthChecks().AddTidepool();

        using IHost host = builder.Build();
        await host.StartAsync();

        await using (DbConnection connection = await host.Services.GetRequiredService<DbDataSource>().OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 6 * 7";
            await console.WriteLineAsync($"the database says {await command.ExecuteScalarAsync()}");
        }

        BufferPool<byte> uploads = host.Services.GetRequiredKeyedService<BufferPool<byte>>("uploads");
        using (BufferLease<byte> upload = uploads.Rent(1000))
        {
            await console.WriteLineAsync($"a buffer of {upload.Length} bytes from pool '{uploads.Name}'");
        }

        HealthReport health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        await console.WriteLineAsync($"{health.Status}: {health.Entries["tidepool:orders"].Description}");
        await host.StopAsync();
    }
}
