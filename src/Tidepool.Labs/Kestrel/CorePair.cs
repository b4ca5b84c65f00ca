using System.Globalization;

namespace Tidepool.Labs;

/// <summary>A core for one program and another for what works against it or looks at it: neither takes time from the other.</summary>
internal readonly record struct CorePair(int Server, int Client)
{
    private const string Status = "/proc/self/status";
    private const string Allowed = "Cpus_allowed_list:";

    /// <summary>What two programs lack here to have a core each, with the command that brings it; null when they can.</summary>
    public static string? Missing { get; } =
        !OperatingSystem.IsLinux() ? "it needs Linux: two programs have a core each, by taskset"
        : !PreloadPrograms.IsOnPath("taskset") ? "taskset is missing. Install it with: apt-get install util-linux"
        : OfThisMachine() is null ? "it needs two cores, one for each of two programs"
        : null;

    /// <summary>
    /// The first and the last core that this process may use, which are rarely two halves of one; null where there are no two, or
    /// where the system does not tell.
    /// </summary>
    public static CorePair? OfThisMachine() => File.Exists(Status)
        && File.ReadLines(Status).FirstOrDefault(line => line.StartsWith(Allowed, StringComparison.Ordinal)) is { } line
            ? Parse(line[Allowed.Length..])
            : null;

    /// <summary>The first and the last core of a list such as <c>0-3,8</c>; null when it has fewer than two.</summary>
    public static CorePair? Parse(string list)
    {
        int[] ends =
        [
            .. list.Split(',', '-')
                .Select(static number => int.TryParse(number, CultureInfo.InvariantCulture, out int core) ? core : -1)
                .Where(static core => core >= 0),
        ];
        return ends.Length >= 2 && ends[0] != ends[^1] ? new(ends[0], ends[^1]) : null;
    }

    /// <summary>The command that runs a program on one core.</summary>
    public static (string Program, IReadOnlyList<string> Arguments) Pin(int core, string program, IEnumerable<string> arguments) =>
        ("taskset", ["-c", core.ToString(CultureInfo.InvariantCulture), program, .. arguments]);
}
