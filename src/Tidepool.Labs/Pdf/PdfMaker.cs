using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>
/// Makes the document of lab <c>pdf</c>: 40 pages with text, vector graphics and a picture each, about 850 KB, the same bytes every time.
/// </summary>
internal static class PdfMaker
{
    /// <summary>The number of pages.</summary>
    public const int Pages = 40;

    private const int Side = 77; // pixels of a picture
    private const int Lines = 30;

    /// <summary>Makes the document.</summary>
    public static byte[] Make()
    {
        using var output = new MemoryStream();
        var offsets = new List<long>();
        var random = new Random(40);
        Text(output, "%PDF-1.4\n");
        Begin(output, offsets);
        Text(output, "<< /Type /Catalog /Pages 2 0 R >>\nendobj\n");
        Begin(output, offsets);
        Text(
            output,
            $"<< /Type /Pages /Count {Pages} /MediaBox [0 0 595 842] /Kids "
                + $"[{string.Join(' ', Enumerable.Range(0, Pages).Select(i => $"{4 + (3 * i)} 0 R"))}] >>\nendobj\n");
        Begin(output, offsets);
        Text(output, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n");
        for (int page = 1; page <= Pages; page++)
        {
            int number = offsets.Count + 1;
            Begin(output, offsets);
            Text(
                output,
                $"<< /Type /Page /Parent 2 0 R /Contents {number + 1} 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /P "
                    + $"{number + 2} 0 R >> >> >>\nendobj\n");
            string content = Content(page, random);
            Begin(output, offsets);
            Text(output, $"<< /Length {content.Length} >>\nstream\n{content}\nendstream\nendobj\n");
            byte[] picture = Picture(page, random);
            Begin(output, offsets);
            Text(
                output,
                $"<< /Type /XObject /Subtype /Image /Width {Side} /Height {Side} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Length "
                    + $"{picture.Length} >>\nstream\n");
            output.Write(picture);
            Text(output, "\nendstream\nendobj\n");
        }

        long start = output.Position;
        Text(output, $"xref\n0 {offsets.Count + 1}\n0000000000 65535 f \n");
        foreach (long offset in offsets)
        {
            Text(output, string.Create(CultureInfo.InvariantCulture, $"{offset:D10} 00000 n \n"));
        }

        Text(output, $"trailer\n<< /Size {offsets.Count + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
        return output.ToArray();
    }

    private static string Content(int page, Random random)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"BT /F1 24 Tf 60 780 Td (Page {page} of {Pages}) Tj ET\n");
        for (int line = 0; line < Lines; line++)
        {
            text.Append(
                CultureInfo.InvariantCulture,
                $"BT /F1 10 Tf 60 {740 - (line * 12)} Td (Line {line + 1}: rent, use, return {random.Next(1000)}) Tj ET\n");
            text.Append(
                CultureInfo.InvariantCulture,
                $"{random.NextDouble():0.00} 0 0 RG {60 + (line * 15)} 60 m {random.Next(60, 540)} 300 l S\n");
        }

        return text.Append("q 160 0 0 160 380 600 cm /P Do Q").ToString();
    }

    private static byte[] Picture(int page, Random random)
    {
        byte[] pixels = new byte[Side * Side * 3];
        random.NextBytes(pixels);
        for (int i = 0; i < pixels.Length; i += 3)
        {
            pixels[i] = (byte)((i / 3 % Side * 3) + page);
        }

        return pixels;
    }

    private static void Begin(MemoryStream output, List<long> offsets)
    {
        offsets.Add(output.Position);
        Text(output, $"{offsets.Count} 0 obj\n");
    }

    private static void Text(MemoryStream output, string text) => output.Write(Encoding.Latin1.GetBytes(text));
}
