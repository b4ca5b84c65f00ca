using System.Text.Json.Nodes;
using Xunit.Abstractions;

namespace Tidepool.Labs.Tests.Pages;

/// <summary>The page of the committed results in a browser. Screenshots lie beside the test's assembly, in <c>screenshots</c>.</summary>
public sealed class PageInChromiumTests(ITestOutputHelper output)
{
    private static readonly string Folder = Directory.CreateDirectory(Path.Combine(AppContext.BaseDirectory, "screenshots")).FullName;

    [ChromiumFact]
    public async Task The_page_loads_nothing_says_nothing_and_fits_at_both_widths_in_both_themes_and_on_paper()
    {
        string file = await WritePageAsync("whole");
        await using Chromium browser = await Chromium.StartAsync();
        foreach (int width in (int[])[1280, 400])
        {
            foreach (string scheme in (string[])["light", "dark"])
            {
                await browser.OpenAsync(file, width, 800, scheme);
                await browser.WaitForAsync(
                    "[...document.querySelectorAll('figure.plot .canvases > :first-child')].every(panel => panel.querySelector('svg'))");

                Assert.Equal(
                    [new Uri(file).AbsoluteUri], browser.Requests.Where(url => !url.StartsWith("data:", StringComparison.Ordinal)));
                Assert.Empty(browser.Complaints);
                Assert.Equal(width, (await browser.EvaluateAsync("document.documentElement.scrollWidth")).GetValue<int>());
                await SaveAsync($"page-{width}-{scheme}.png", await browser.PictureAsync(width, width < 600 ? 4000 : 3200));
            }
        }

        await browser.EmulateAsync("", "dark"); // paper is light all the same
        await SaveAsync("page.pdf", await browser.PrintAsync());
        Assert.Empty(browser.Complaints);
    }

    [ChromiumFact]
    public async Task The_first_screen_answers_for_ten_labs()
    {
        string file = await WritePageAsync("first-screen");
        await using Chromium browser = await Chromium.StartAsync();
        await browser.OpenAsync(file, 1280, 800, "light");

        JsonArray bottoms = (await browser.EvaluateAsync(
            "[...document.querySelectorAll('.answer:not(.scale)')].map(answer => answer.getBoundingClientRect().bottom)")).AsArray();
        await SaveAsync("first-screen.png", await browser.PictureAsync(1280, 800));

        Assert.All(bottoms.Take(10), bottom => Assert.InRange(bottom!.GetValue<double>(), 1, 800));
    }

    [ChromiumFact]
    public async Task Two_charts_stand_beside_each_other_on_one_scale_and_each_is_whole_on_paper()
    {
        string file = await WritePageAsync("charts");
        await using Chromium browser = await Chromium.StartAsync();
        await browser.OpenAsync(file, 1280, 800, "light");
        const string Figure = "document.querySelector('figure.plot[data-lab=objects]')";
        await browser.EvaluateAsync(
            "(second => { second.value = '1'; return second.dispatchEvent(new Event('change')); })"
                + $"({Figure}.querySelector('select.second'))");
        await browser.DrawAsync();

        JsonArray scales = (await browser.EvaluateAsync(
            $"[...{Figure}.querySelectorAll('.canvas')].map(canvas => [...canvas.querySelectorAll('text')].map(text => text.textContent)"
                + ".filter(text => /^[0-9.]+ (ns|µs|ms)$/.test(text)).join(' '))")).AsArray();
        Assert.Equal(2, scales.Count);
        Assert.NotEqual("", (string?)scales[0]);
        Assert.Equal((string?)scales[0], (string?)scales[1]);
        JsonNode isSaid = await browser.EvaluateAsync(
            "[...document.querySelectorAll('.canvas svg')].some(svg => svg.textContent.includes(', logarithmic scale'))");
        Assert.True(isSaid.GetValue<bool>());

        await browser.EvaluateAsync($"{Figure}.scrollIntoView()");
        JsonNode box = await browser.EvaluateAsync(
            $"(box => ({{ y: box.top + scrollY, height: box.height }}))({Figure}.getBoundingClientRect())");
        output.WriteLine($"The figure is {box["height"]} px high.");
        await browser.EmulateAsync("print", "light");
        await browser.EvaluateAsync("dispatchEvent(new Event('beforeprint'))");
        JsonArray figures = (await browser.EvaluateAsync(
            "[...document.querySelectorAll('figure.plot')].map(figure => [getComputedStyle(figure).breakInside, "
                + "figure.getBoundingClientRect().height])")).AsArray();
        Assert.All(figures, figure =>
        {
            Assert.Equal("avoid", (string?)figure![0]);
            Assert.InRange(figure[1]!.GetValue<double>(), 1, 1000); // a sheet of A4 has 1,122 px, less the margins
        });
    }

    [ChromiumFact]
    public async Task The_plot_over_the_number_of_threads_shows_each_number_at_both_widths()
    {
        string file = await WritePageAsync("scaling");
        await using Chromium browser = await Chromium.StartAsync();
        const string Figure = "document.querySelector('figure.plot[data-lab=objects]')";
        foreach (int width in (int[])[1280, 400])
        {
            await browser.OpenAsync(file, width, 800, "light");
            await browser.EvaluateAsync(
                "(first => { first.value = [...first.options].find(option => option.text.startsWith('Scaling: ')).value;"
                    + $" return first.dispatchEvent(new Event('change')); }})({Figure}.querySelector('select.first'))");
            await browser.DrawAsync();

            JsonArray texts = (await browser.EvaluateAsync(
                $"[...{Figure}.querySelectorAll('.canvas svg text')].map(text => text.textContent)")).AsArray();
            string?[] written = [.. texts.Select(static text => (string?)text)];
            Assert.Superset(new HashSet<string?> { "1", "2", "4", "8", "threads, logarithmic scale" }, written.ToHashSet());
            Assert.Equal(width, (await browser.EvaluateAsync("document.documentElement.scrollWidth")).GetValue<int>());
            Assert.Empty(browser.Complaints);
            double top = (await browser.EvaluateAsync($"{Figure}.getBoundingClientRect().top + scrollY")).GetValue<double>();
            await SaveAsync($"scaling-{width}.png", await browser.PictureAsync(width, 800, top));
        }
    }

    private static async Task<string> WritePageAsync(string name)
    {
        var (report, labs) = CommittedRun.Read();
        string file = Path.Combine(Folder, $"{name}.html");
        await File.WriteAllTextAsync(file, HtmlReport.Write(report, labs, HtmlReport.PackedPlots()));
        return file;
    }

    private async Task SaveAsync(string name, byte[] content)
    {
        string path = Path.Combine(Folder, name);
        await File.WriteAllBytesAsync(path, content);
        output.WriteLine(path);
    }
}
