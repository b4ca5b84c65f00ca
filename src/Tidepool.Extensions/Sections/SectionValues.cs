using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using Microsoft.Extensions.Configuration;

namespace Tidepool;

/// <summary>Says which value of a section cannot be read, and what is allowed there.</summary>
internal static class SectionValues
{
    /// <summary>The ranges of numbers, as the checks of the options say them.</summary>
    internal static readonly IReadOnlyDictionary<string, string> Ranges = new Dictionary<string, string>
    {
        [nameof(ResourcePoolSection.MaxSize)] = "1 or more",
        [nameof(ResourcePoolSection.MinSize)] = "0 to MaxSize",
        [nameof(ResourcePoolSection.MinIdle)] = "0 to MaxSize",
        [nameof(ResourcePoolSection.MaxCreateConcurrency)] = "1 or more",
        [nameof(ResourcePoolSection.MaxWaiters)] = "1 or more",
        [nameof(ResourcePoolSection.LifetimeJitter)] = "0 to 1",
        [nameof(ResourcePoolSection.WarmUp)] = "0 to MaxSize",
        [nameof(KeyedResourcePoolSection.MaxTotal)] = "1 or more",
        [nameof(KeyedResourcePoolSection.MaxKeys)] = "1 or more",
    };

    /// <summary>Describes the first value that is not of its option's type, or that would be read as something else.</summary>
    /// <returns>A sentence with the option's name, its value and what is allowed, or null when all can be read.</returns>
    internal static string? FindUnreadable(
        IConfiguration section, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)] Type type)
    {
        foreach (IConfigurationSection child in section.GetChildren())
        {
            PropertyInfo? option = Array.Find(
                type.GetProperties(), option => option.Name.Equals(child.Key, StringComparison.OrdinalIgnoreCase));
            if (option is null)
            {
                return $"{child.Key} is no option of this pool. {Advise(child.Key, type)}";
            }

            if (child.GetChildren().Any())
            {
                return $"{option.Name} has keys below it; allowed is one value.";
            }

            if (child.Value is { Length: > 0 } text && FindAllowed(option, text) is { } allowed)
            {
                return $"{option.Name} is '{text}'; allowed is {allowed}.";
            }
        }

        return null;
    }

    private static string Advise(
        string key, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)] Type type)
    {
        string[] options = [.. type.GetProperties().Select(static option => option.Name).Order(StringComparer.Ordinal)];
        return Spelling.FindNearest(key, options) is { } nearest
            ? $"Did you mean {nearest}?"
            : $"Its options are: {string.Join(", ", options)}.";
    }

    /// <summary>What an option may be, or null when the text is of its type.</summary>
    private static string? FindAllowed(PropertyInfo option, string text)
    {
        string range = Ranges.TryGetValue(option.Name, out string? known) ? $", {known}" : string.Empty;
        CultureInfo culture = CultureInfo.InvariantCulture;
        Type type = Nullable.GetUnderlyingType(option.PropertyType) ?? option.PropertyType;
        return type switch
        {
            _ when type == typeof(int) => int.TryParse(text, culture, out _) ? null : $"a whole number up to {int.MaxValue}{range}",
            _ when type == typeof(long) => long.TryParse(text, culture, out _) ? null : $"a whole number up to {long.MaxValue}{range}",
            _ when type == typeof(double) => double.TryParse(text, NumberStyles.Float, culture, out _) ? null : $"a number{range}",
            _ when type == typeof(bool) => bool.TryParse(text, out _) ? null : "true or false",
            _ when type == typeof(TimeSpan) => IsTime(text)
                ? null : "a time, written hours:minutes:seconds, such as 00:00:30, with whole days before them, such as 1.00:00:00",
            { IsEnum: true } => Enum.TryParse(type, text, ignoreCase: true, out _) ? null : string.Join(" or ", Enum.GetNames(type)),
            _ => null,
        };
    }

    /// <summary>
    /// Refuses what would be read as days and hardly means them: a bare number, and hours from 24 on. 0 is the same in every unit.
    /// </summary>
    private static bool IsTime(string text) =>
        text == "0" || (text.Contains(':', StringComparison.Ordinal) && TimeSpan.TryParseExact(text, "c", null, out _));
}
