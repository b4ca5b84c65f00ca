using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Tidepool.Advice;

/// <summary>What a comparison reads of a file of <c>tidepool advise --json</c>; fields that it does not know are passed over.</summary>
internal sealed record AdviceFile
{
    private static readonly JsonSerializerOptions Options = new(JsonSerializerDefaults.Web)
    {
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase, allowIntegerValues: false) },
        NumberHandling = JsonNumberHandling.Strict,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
        TypeInfoResolver = new DefaultJsonTypeInfoResolver(),
    };

    /// <summary>The version of the schema.</summary>
    public required int Schema { get; init; }

    /// <summary>The process.</summary>
    public required FileProcess Process { get; init; }

    /// <summary>How long it was looked at.</summary>
    public required FileWindow Window { get; init; }

    /// <summary>All bytes allocated per second.</summary>
    public required Interval BytesPerSecond { get; init; }

    /// <summary>Collections by reason.</summary>
    public required IReadOnlyList<FileCollections> Collections { get; init; }

    /// <summary>The sites.</summary>
    public required IReadOnlyList<FileSite> Sites { get; init; }

    /// <summary>The pools.</summary>
    public required IReadOnlyList<FilePool> Pools { get; init; }

    /// <summary>Reads a file's text.</summary>
    /// <exception cref="JsonException">It is none, or its numbers cannot be right; the message says what is wrong.</exception>
    public static AdviceFile Read(string text)
    {
        using (JsonDocument document = JsonDocument.Parse(text))
        {
            CheckFields(document.RootElement);
        }

        AdviceFile file = JsonSerializer.Deserialize<AdviceFile>(text, Options)!;
        return file.FindFault() is { } fault ? throw new JsonException(fault) : file;
    }

    /// <summary>The version before the other fields, so that the file of another version is not called incomplete.</summary>
    private static void CheckFields(JsonElement root)
    {
        if (root.ValueKind != JsonValueKind.Object || !root.TryGetProperty("schema", out JsonElement schema))
        {
            throw new JsonException("'schema' is missing.");
        }

        if (schema.ValueKind != JsonValueKind.Number || !schema.TryGetInt32(out int version) || version != AdviceJson.SchemaVersion)
        {
            throw new JsonException($"its schema is {schema}, and this version of Tidepool reads {AdviceJson.SchemaVersion}.");
        }

        var required = Options.GetTypeInfo(typeof(AdviceFile)).Properties.Where(static property => property.IsRequired);
        if (required.FirstOrDefault(property => !root.TryGetProperty(property.Name, out _)) is { } missing)
        {
            throw new JsonException($"'{missing.Name}' is missing.");
        }
    }

    private string? FindFault()
    {
        if (Sites.Contains(null!) || Pools.Contains(null!) || Collections.Contains(null!))
        {
            return "'sites', 'pools' or 'collections' has an element that is null.";
        }

        if (!(Window.SampledSeconds > 0))
        {
            return "nothing was sampled: 'sampledSeconds' is not above 0.";
        }

        if (Sites.Count == 0 && Process.Runtime.Length == 0)
        {
            return "no allocation was sampled, which the runtime of the process, whose version is not known, may not be able to do.";
        }

        if (!(Window.Seconds > 0 && double.IsFinite(Window.Seconds)) || Window.LostEvents < 0)
        {
            return "'window' cannot be right: 'seconds' must be above 0, and 'lostEvents' at least 0.";
        }

        if (Collections.Any(static one => !(one.PerSecond >= 0 && double.IsFinite(one.PerSecond))))
        {
            return "'perSecond' of a collection is below 0.";
        }

        if (Sites.FirstOrDefault(static site => site.Samples < 0) is { } below)
        {
            return $"'samples' of {below.Method} is {below.Samples}, and must be at least 0.";
        }

        if (AdviceReport.IsTorn(Window.LostEvents, Sites.Sum(static site => (long)site.Samples)))
        {
            return $"{Window.LostEvents} events were lost, so its rates are too low: {AdviceReport.HowToLoseLess(Process.Runtime)}.";
        }

        if (Sites.FirstOrDefault(static site => !site.BytesPerSecond.IsSound) is { } unsound)
        {
            return $"'bytesPerSecond' of {unsound.Method} is no interval: it must have 0 <= low <= value <= high.";
        }

        if (!BytesPerSecond.IsSound)
        {
            return "'bytesPerSecond' is no interval: it must have 0 <= low <= value <= high.";
        }

        FileSite? twice = Sites.GroupBy(static site => site.Key).FirstOrDefault(static same => same.Count() > 1)?.First();
        return twice is null ? null : $"it has the site {twice.Method} with {twice.Type} twice.";
    }
}

/// <summary>The process of a file.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Runtime">The version of its runtime; empty where that is not known.</param>
internal sealed record FileProcess(string Name, string Runtime);

/// <summary>The window of a file.</summary>
/// <param name="Seconds">The whole window.</param>
/// <param name="SampledSeconds">How long samples were taken.</param>
/// <param name="LostEvents">Events that were not delivered.</param>
internal sealed record FileWindow(double Seconds, double SampledSeconds, long LostEvents);

/// <summary>The collections of one reason.</summary>
/// <param name="PerSecond">How many.</param>
internal sealed record FileCollections(double PerSecond);

/// <summary>A site of a file.</summary>
internal sealed record FileSite
{
    /// <summary>What to do about it.</summary>
    public required Verdict Verdict { get; init; }

    /// <summary>The method that allocates.</summary>
    public required string Method { get; init; }

    /// <summary>The source file; empty where symbols are missing.</summary>
    public required string File { get; init; }

    /// <summary>The line; 0 where symbols are missing.</summary>
    public required int Line { get; init; }

    /// <summary>The type of the objects.</summary>
    public required string Type { get; init; }

    /// <summary>The class of the platform that made them; null where the program did.</summary>
    public string? Builder { get; init; }

    /// <summary>Whether a pool made them because it had none.</summary>
    public bool IsPoolMiss { get; init; }

    /// <summary>Bytes per second.</summary>
    public required Interval BytesPerSecond { get; init; }

    /// <summary>The share of all bytes.</summary>
    public required double Share { get; init; }

    /// <summary>How many objects were sampled.</summary>
    public required int Samples { get; init; }

    /// <summary>Bytes of an object.</summary>
    public required FileSizes Sizes { get; init; }

    /// <summary>What makes it the same site in two files. Lines move, so they are no part of it.</summary>
    public (string Method, string Type, string? Builder, bool IsPoolMiss) Key => (Method, Type, Builder, IsPoolMiss);
}

/// <summary>The sizes of a site's objects.</summary>
/// <param name="Largest">The largest, in bytes.</param>
internal sealed record FileSizes(long Largest);

/// <summary>A pool of a file.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Kind">What it hands out.</param>
/// <param name="Verdict">The most urgent of its verdicts.</param>
internal sealed record FilePool(string Name, string Kind, PoolVerdict Verdict);
