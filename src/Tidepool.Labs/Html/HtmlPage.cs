using System.Net;
using System.Text;

namespace Tidepool.Pages;

/// <summary>What every page of Tidepool has in common: one file that loads nothing, in one style.</summary>
internal static class HtmlPage
{
    /// <summary>A page up to its heading.</summary>
    /// <param name="title">What the window is called.</param>
    /// <param name="heading">The first line of the page.</param>
    /// <param name="style">Rules beside those of every page.</param>
    public static StringBuilder Begin(string title, string heading, string style = "")
    {
        var page = new StringBuilder();
        page.Append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.Append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.Append("<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n");
        page.Append($"<title>{Encode(title)}</title>\n<style>\n").Append(Resource("page.css")).Append(style);
        page.Append("</style>\n</head>\n<body>\n<header>\n<div class=\"brand\"><span class=\"mark\" aria-hidden=\"true\"></span>");
        return page.Append($"<h1>{Encode(heading)}</h1></div>\n");
    }

    /// <summary>Text as HTML.</summary>
    public static string Encode(string text) => WebUtility.HtmlEncode(text);

    /// <summary>A name of code or an id as HTML: it may be broken before a dot and nowhere else.</summary>
    public static string EncodeName(string name) => Encode(name).Replace(".", "<wbr>.", StringComparison.Ordinal);

    /// <summary>The text of a file that is packed into this assembly.</summary>
    public static string Resource(string name) =>
        TryResource(name) ?? throw new InvalidOperationException($"The assembly lacks '{name}'.");

    /// <summary>The text of a packed file; null where it is not packed.</summary>
    public static string? TryResource(string name)
    {
        using var stream = typeof(HtmlPage).Assembly.GetManifestResourceStream(name);
        return stream is null ? null : new StreamReader(stream).ReadToEnd();
    }
}
