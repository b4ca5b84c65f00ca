// A web program with pooled memory behind Kestrel and pools of its own; asks itself one question and ends.
using System.Text;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Tidepool;

WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.Logging.ClearProviders();
builder.WebHost.UseTidepoolMemoryPool().UseUrls("http://127.0.0.1:0");
builder.Services.AddTidepool().AddBufferPool<byte>("uploads");
builder.Services.AddHealthChecks().AddTidepool();

await using WebApplication app = builder.Build();
app.MapHealthChecks("/health", new HealthCheckOptions());
app.MapPost("/length", async (HttpRequest request, [FromKeyedServices("uploads")] BufferPool<byte> uploads) =>
{
    using BufferLease<byte> lease = uploads.Rent(1000);
    int read = await request.Body.ReadAtLeastAsync(lease.Memory, lease.Length, throwOnEndOfStream: false);
    return $"{read} bytes";
});
await app.StartAsync();

string address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();
using var client = new HttpClient { BaseAddress = new Uri(address) };
using HttpResponseMessage answer = await client.PostAsync("/length", new ByteArrayContent(Encoding.UTF8.GetBytes("rent, use, return")));
Console.WriteLine($"{(int)answer.StatusCode}: {await answer.Content.ReadAsStringAsync()}");
Console.WriteLine(await client.GetStringAsync("/health"));
var memory = app.Services.GetRequiredService<Microsoft.AspNetCore.Connections.IMemoryPoolFactory<byte>>();
Console.WriteLine(memory.GetType().Name);
await app.StopAsync();
