using System.Globalization;

namespace Tidepool.Advice;

/// <summary>Writes a table of size classes as code that one can paste. Pure.</summary>
internal static class ClassText
{
    private const int InARow = 8; // fits 80 columns, indented

    /// <summary>The option of a buffer pool.</summary>
    public static string CSharp(IReadOnlyList<int> lengths) => $"Sizes = SizeClasses.FromLengths(\n{Rows(lengths)}),";

    /// <summary>
    /// A header for <c>TIDEPOOL_SIZE_CLASSES</c> of the native library, by its rules: multiples of 16 bytes up to 1 KiB and of 128 above,
    /// all powers of two from 16 bytes to 32 KiB, at most 64 classes.
    /// </summary>
    /// <param name="lengths">The lengths in elements.</param>
    /// <param name="elementBytes">The bytes of one element.</param>
    /// <returns>Null when none of them is as short as what the library keeps in classes, or they are no lengths.</returns>
    public static string? Native(IReadOnlyList<int> lengths, int elementBytes)
    {
        if (elementBytes <= 0 || lengths.Count == 0 || (long)lengths[0] * elementBytes > NativeClasses.Largest)
        {
            return null;
        }

        IReadOnlyList<int> powers = NativeClasses.Powers;
        var bytes = lengths.Select(length => (long)length * elementBytes);
        int[] sizes = [.. bytes.Where(static size => size <= NativeClasses.Largest).Select(NativeClasses.Align)];
        // Where there are too many, the smallest go first: they save least.
        int[] chosen = [.. sizes.Except(powers).OrderDescending().Take(NativeClasses.Most - powers.Count).Concat(powers).Order()];
        return "#pragma once\n\n#include <cstdint>\n\nnamespace tp::detail {\ninline constexpr std::uint32_t class_sizes[] = {\n"
            + $"{Rows(chosen)}}};\n}}  // namespace tp::detail\n";
    }

    private static string Rows(IEnumerable<int> numbers) => string.Join(
        ",\n",
        numbers.Chunk(InARow).Select(
            static row => "    " + string.Join(", ", row.Select(static number => number.ToString(CultureInfo.InvariantCulture)))));
}
