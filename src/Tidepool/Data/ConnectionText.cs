using System.Data.Common;
using System.Globalization;

namespace Tidepool.Data;

/// <summary>What a pool reads from a connection string, and what it makes of it.</summary>
internal sealed class ConnectionText
{
    private const string Pooling = "Pooling";

    /// <summary>The most seconds that a provider takes for an opening: Npgsql refuses more.</summary>
    private const int LongestOpening = 1024;

    private static readonly string[] HostNames = ["Host", "Server", "Data Source", "DataSource", "Address", "Addr"];
    private static readonly string[] FileParameters = ["mode", "cache", "immutable", "nolock", "psow", "vfs"];
    private static readonly string[] DatabaseNames = ["Database", "Initial Catalog"];

    private ConnectionText(DbConnectionStringBuilder builder)
    {
        bool? pools = IsTrue(Find(builder, Pooling) ?? DefaultOf(builder, Pooling));
        HasPooling = pools == true;
        IgnoresAmbient = IsTrue(Find(builder, "Enlist") ?? Find(builder, "Auto Enlist")) == false;
        Prepares = Find(builder, "Max Auto Prepare") is { } most && Convert.ToInt32(most, CultureInfo.InvariantCulture) > 0;
        KeepsAlive = int.TryParse(Find(builder, "Keepalive")?.ToString(), CultureInfo.InvariantCulture, out int seconds) && seconds > 0;
        Name = NameOf(builder);
        if (HasPooling || (IsKnown(builder) && pools is not null))
        {
            builder[Pooling] = false;
        }

        Unpooled = builder.ConnectionString;
        foreach (string key in builder.Keys.Cast<string>().Where(IsSecret).ToArray())
        {
            builder.Remove(key);
        }

        foreach (string key in HostNames.Where(key => Find(builder, key) is string text && IsFileUri(text)))
        {
            builder[key] = WithoutSecrets((string)builder[key]);
        }

        Public = builder.ConnectionString;
    }

    /// <summary>The provider's pool is on, by the text or by default.</summary>
    internal bool HasPooling { get; }

    /// <summary>It says that an ambient transaction is none of its business.</summary>
    internal bool IgnoresAmbient { get; }

    /// <summary>The provider prepares statements by itself.</summary>
    internal bool Prepares { get; }

    /// <summary>A timer of the provider asks idle sessions whether they live, on a thread of its own (Npgsql).</summary>
    internal bool KeepsAlive { get; }

    /// <summary>Server, port and database.</summary>
    internal string Name { get; }

    /// <summary>The connection string with the provider's pool off.</summary>
    internal string Unpooled { get; }

    /// <summary>The text without passwords.</summary>
    internal string Public { get; }

    /// <summary>Reads a text.</summary>
    /// <exception cref="ArgumentException">It is none for this provider.</exception>
    internal static ConnectionText Of(DbProviderFactory? factory, string text)
    {
        DbConnectionStringBuilder builder = factory?.CreateConnectionStringBuilder() ?? new DbConnectionStringBuilder();
        builder.ConnectionString = text;
        return new ConnectionText(builder);
    }

    /// <summary>The text for the provider: its pool is off, and an opening takes no longer than the pool waits for one.</summary>
    /// <param name="factory">The provider.</param>
    /// <param name="word">Its word for the seconds that an opening may take, 0 without limit.</param>
    /// <param name="limit">How long the pool waits; infinite leaves the text as it is.</param>
    internal string LimitOpening(DbProviderFactory factory, string word, TimeSpan limit)
    {
        if (limit <= TimeSpan.Zero || factory.CreateConnectionStringBuilder() is not { } builder)
        {
            return Unpooled;
        }

        builder.ConnectionString = Unpooled;
        long own = Convert.ToInt64(Find(builder, word) ?? DefaultOf(builder, word), CultureInfo.InvariantCulture);
        int most = (int)Math.Clamp(Math.Ceiling(limit.TotalSeconds), 1, LongestOpening);
        if (own == 0 || own > most)
        {
            builder[word] = most;
        }

        return builder.ConnectionString;
    }

    /// <summary>The provider's own builder, which knows its words and their defaults.</summary>
    private static bool IsKnown(DbConnectionStringBuilder builder) => builder.GetType() != typeof(DbConnectionStringBuilder);

    /// <summary>Whether the provider closes a connection whose command took too long, without asking the server.</summary>
    internal static bool ClosesOnTimeout(string text)
    {
        var builder = new DbConnectionStringBuilder { ConnectionString = text };
        return (Find(builder, "Cancellation Timeout") ?? Find(builder, "CancellationTimeout")) is string wait
            && int.TryParse(wait, NumberStyles.Integer, CultureInfo.InvariantCulture, out int milliseconds)
            && milliseconds < 0;
    }

    /// <summary>SQLite opens such a name, and so do its relatives, with parameters that may be keys.</summary>
    private static bool IsFileUri(string text) => text.StartsWith("file:", StringComparison.OrdinalIgnoreCase);

    /// <summary>The name with those of its parameters that say which file it is, and how it is opened, and no others.</summary>
    private static string WithoutSecrets(string uri)
    {
        string[] parts = uri.Split('?', 2);
        string[] kept = parts.Length < 2
            ? []
            : [.. parts[1].Split('#')[0].Split('&')
                .Where(static part => FileParameters.Contains(part.Split('=')[0], StringComparer.OrdinalIgnoreCase))];
        return kept.Length == 0 ? parts[0] : $"{parts[0]}?{string.Join('&', kept)}";
    }

    private static string NameOf(DbConnectionStringBuilder builder)
    {
        string host = Text(builder, HostNames);
        host = IsFileUri(host) ? host.Split('?')[0] : host;
        string port = Text(builder, ["Port"]);
        string database = Text(builder, DatabaseNames);
        string server = port.Length == 0 ? host : $"{host}:{port}";
        return database.Length == 0 ? server : $"{server}/{database}";
    }

    private static string Text(DbConnectionStringBuilder builder, string[] names) =>
        names.Select(name => Convert.ToString(Find(builder, name), CultureInfo.InvariantCulture))
            .FirstOrDefault(value => !string.IsNullOrEmpty(value)) ?? string.Empty;

    private static bool? IsTrue(object? setting) => setting switch
    {
        null => null,
        bool value => value,
        var value => Convert.ToString(value, CultureInfo.InvariantCulture) switch
        {
            { } text when bool.TryParse(text, out bool isTrue) => isTrue,
            "yes" or "1" => true,
            "no" or "0" => false,
            _ => null,
        },
    };

    /// <summary>Some builders tell the default of a word that was not set by their indexer alone.</summary>
    private static object? DefaultOf(DbConnectionStringBuilder builder, string name)
    {
        try
        {
            return IsKnown(builder) ? builder[name] : null;
        }
        catch (ArgumentException)
        {
            return null;
        }
    }

    private static object? Find(DbConnectionStringBuilder builder, string name) =>
        builder.TryGetValue(name, out object? value) ? value : null;

    internal static bool IsSecret(string key) =>
        key.Contains("password", StringComparison.OrdinalIgnoreCase)
        || key.Contains("pwd", StringComparison.OrdinalIgnoreCase)
        || key.Contains("token", StringComparison.OrdinalIgnoreCase)
        || key.Contains("secret", StringComparison.OrdinalIgnoreCase)
        || key.Contains("passphrase", StringComparison.OrdinalIgnoreCase)
        || key.Contains("passcode", StringComparison.OrdinalIgnoreCase)
        || key.Equals("psw", StringComparison.OrdinalIgnoreCase);
}
