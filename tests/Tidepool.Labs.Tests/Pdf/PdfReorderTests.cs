using System.Diagnostics;
using System.Text;

namespace Tidepool.Labs.Tests.Pdf;

public class PdfReorderTests
{
    [Fact]
    public void The_made_document_has_forty_pages_about_850_KB_and_the_same_bytes_every_time()
    {
        byte[] made = PdfMaker.Make();

        Assert.InRange(made.Length, 800_000, 900_000);
        Assert.Equal(made, PdfMaker.Make());
        Assert.Equal(PdfMaker.Pages, PdfDocument.Read(made).Pages.Count);
    }

    [Fact]
    public void Reversing_twice_gives_the_pages_in_their_first_order_with_the_same_content()
    {
        byte[] made = PdfMaker.Make();
        byte[] once = Reverse(made);
        byte[] twice = Reverse(once);

        int[] pages = [.. PdfDocument.Read(made).Pages.Select(page => page.Number)];
        Assert.Equal(pages.Reverse(), PdfDocument.Read(once).Pages.Select(page => page.Number));
        Assert.Equal(pages, PdfDocument.Read(twice).Pages.Select(page => page.Number));
        Assert.Equal(twice, Reverse(Reverse(twice)));
    }

    [Fact]
    public void Any_order_is_written_also_with_pages_left_out()
    {
        byte[] some = Reorder(PdfMaker.Make(), [5, 0, 39]);
        int[] pages = [.. PdfDocument.Read(PdfMaker.Make()).Pages.Select(page => page.Number)];

        Assert.Equal([pages[5], pages[0], pages[39]], PdfDocument.Read(some).Pages.Select(page => page.Number));
    }

    [Fact]
    public void A_file_that_is_no_PDF_or_breaks_off_is_refused_with_what_is_wrong()
    {
        byte[] made = PdfMaker.Make();

        Assert.Contains("no PDF", Refused("hello"u8.ToArray()), StringComparison.Ordinal);
        Assert.Contains("no PDF", Refused([]), StringComparison.Ordinal);
        Assert.Contains("breaks off", Refused(made[..(made.Length / 2)]), StringComparison.Ordinal);
        Assert.Contains("damaged", Refused(Encoding.ASCII.GetBytes("%PDF-1.4\nstartxref\n99999\n%%EOF")), StringComparison.Ordinal);
    }

    [Fact]
    public void A_damaged_file_never_ends_in_another_exception()
    {
        byte[] made = PdfMaker.Make();
        var random = new Random(11);
        for (int round = 0; round < 300; round++)
        {
            byte[] damaged = [.. made];
            for (int i = random.Next(1, 30); i > 0; i--)
            {
                // Mostly where the structure is: at the end and in the first objects.
                int place = random.Next(2) == 0 ? made.Length - 1 - random.Next(4000) : random.Next(3000);
                damaged[place] = (byte)random.Next(256);
            }

            try
            {
                _ = Reverse(damaged);
            }
            catch (InvalidDataException)
            {
                // refused, as it should be
            }
        }
    }

    [ProgramsFact("qpdf poppler-utils", "qpdf", "pdftotext")]
    public void Other_programs_find_the_output_sound_and_its_text_reversed()
    {
        string folder = Directory.CreateTempSubdirectory("tidepool pdf ").FullName;
        try
        {
            string made = Path.Combine(folder, "made.pdf");
            File.WriteAllBytes(made, PdfMaker.Make());
            foreach (string form in new[] { "--object-streams=generate", "--object-streams=disable", "--linearize" })
            {
                string input = Path.Combine(folder, "input.pdf");
                string output = Path.Combine(folder, "output.pdf");
                Run("qpdf", form, made, input);
                File.WriteAllBytes(output, Reverse(File.ReadAllBytes(input)));
                Run("qpdf", "--check", output);
                string text = Run("pdftotext", output, "-");
                int[] places =
                    [.. Enumerable.Range(1, PdfMaker.Pages).Select(page => text.IndexOf($"Page {page} of 40", StringComparison.Ordinal))];
                Assert.DoesNotContain(-1, places);
                Assert.Equal(places.OrderDescending(), places);
            }

            string locked = Path.Combine(folder, "locked.pdf");
            Run("qpdf", "--encrypt", "user", "owner", "256", "--", made, locked);
            Assert.Contains("encrypted", Refused(File.ReadAllBytes(locked)), StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static byte[] Reverse(byte[] file) =>
        Reorder(file, [.. Enumerable.Range(0, PdfDocument.Read(file).Pages.Count).Reverse()]);

    private static byte[] Reorder(byte[] file, int[] order)
    {
        using var output = new PooledMemoryStream();
        PdfReorder.Write(PdfDocument.Read(file), order, output);
        return output.ToArray();
    }

    private static string Refused(byte[] file) => Assert.Throws<InvalidDataException>(() => PdfDocument.Read(file)).Message;

    private static string Run(string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        Array.ForEach(arguments, start.ArgumentList.Add);
        using var process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{program} {string.Join(' ', arguments)}: {process.ExitCode}\n{output}{errors.Result}");
        return output;
    }
}
