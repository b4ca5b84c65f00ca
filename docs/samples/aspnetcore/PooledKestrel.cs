using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Tidepool;

namespace Samples;

/// <summary>A web application whose server rents its buffers from Tidepool.</summary>
public static class PooledKestrel
{
    public static WebApplication Build(string url)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.WebHost.UseTidepoolMemoryPool();
        builder.WebHost.UseUrls(url);

        WebApplication app = builder.Build();
        app.MapGet("/", () => "rent, use, return");
        return app;
    }
}
