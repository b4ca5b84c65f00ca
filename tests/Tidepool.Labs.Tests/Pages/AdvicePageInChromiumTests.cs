using System.Text.Json.Nodes;
using Tidepool.Advice;
using Tidepool.Advice.Tests.Comparing;
using Xunit.Abstractions;

namespace Tidepool.Labs.Tests.Pages;

/// <summary>The page of <c>tidepool advise</c> in a browser. Screenshots lie beside the test's assembly, in <c>screenshots</c>.</summary>
public sealed class AdvicePageInChromiumTests(ITestOutputHelper output)
{
    private static readonly string Folder = Directory.CreateDirectory(Path.Combine(AppContext.BaseDirectory, "screenshots")).FullName;

    [ChromiumFact]
    public async Task The_page_loads_nothing_says_nothing_and_fits_at_both_widths_in_both_themes_and_on_paper()
    {
        string file = Path.Combine(Folder, "advice.html");
        await File.WriteAllTextAsync(file, AdvicePage.Write(MadeUpAdvice.Many(5, 2, "Orders.Billing.Invoices.InvoiceRenderer.RenderPage")));
        await using Chromium browser = await Chromium.StartAsync();
        foreach (int width in (int[])[1280, 400])
        {
            foreach (string scheme in (string[])["light", "dark"])
            {
                await browser.OpenAsync(file, width, 800, scheme);
                Assert.Equal(
                    [new Uri(file).AbsoluteUri], browser.Requests.Where(url => !url.StartsWith("data:", StringComparison.Ordinal)));
                Assert.Empty(browser.Complaints);
                Assert.Equal(width, (await browser.EvaluateAsync("document.documentElement.scrollWidth")).GetValue<int>());
                await SaveAsync($"advice-{width}-{scheme}.png", await browser.PictureAsync(width, width < 600 ? 4000 : 2400));
            }
        }

        JsonNode isDrawn = await browser.EvaluateAsync(
            "[...document.querySelectorAll('svg')].every(svg => svg.getBoundingClientRect().height > 10)");
        Assert.True(isDrawn.GetValue<bool>());
        await browser.EmulateAsync("", "dark"); // paper is light all the same
        await SaveAsync("advice.pdf", await browser.PrintAsync());
        Assert.Empty(browser.Complaints);
    }

    private async Task SaveAsync(string name, byte[] content)
    {
        string path = Path.Combine(Folder, name);
        await File.WriteAllBytesAsync(path, content);
        output.WriteLine(path);
    }
}
