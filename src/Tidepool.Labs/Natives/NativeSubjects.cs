namespace Tidepool.Labs;

/// <summary>The subjects of lab <c>native</c>.</summary>
internal static class NativeSubjects
{
    /// <summary>What the classic experiment compares with: it zeroes, and keeps three pointers.</summary>
    public static readonly NativeSubject Vector = new("std::vector", false, "malloc", "vector");

    /// <summary>The classic hand-written pool.</summary>
    public static readonly NativeSubject MutexPool = new("mutex-pool", false, "malloc", "mutex-pool");

    /// <summary>The C library's malloc: what a program has that does nothing.</summary>
    public static readonly NativeSubject CLibrary = new("glibc", false, "malloc", "malloc");

    /// <summary>Debian's mimalloc.</summary>
    public static readonly NativeSubject Mimalloc = Preloaded("mimalloc", "libmimalloc.so.2", "libmimalloc2.0");

    /// <summary>The mallocs that ours must not be slower than.</summary>
    public static readonly IReadOnlyList<NativeSubject> Peers =
    [
        CLibrary,
        Mimalloc,
        Preloaded("jemalloc", "libjemalloc.so.2", "libjemalloc2"),
        Preloaded("tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
        Preloaded("tbbmalloc", "libtbbmalloc_proxy.so.2", "libtbbmalloc2"),
    ];

    /// <summary>Our malloc, preloaded into the same driver.</summary>
    public static readonly NativeSubject Shared = new("tidepool .so", true, "malloc", "malloc") { Library = "libtidepool-preload.so" };

    /// <summary>Our calloc behind a header object of three pointers: what std::vector does.</summary>
    public static readonly NativeSubject Zeroed = Shared with { Name = "tidepool zeroed", Face = "zeroed" };

    /// <summary>The inline C++ functions.</summary>
    public static readonly NativeSubject Inline = new("tidepool inline", true, "tidepool", "inline");

    /// <summary>Pools of one type.</summary>
    public static readonly NativeSubject Pool = new("tidepool pool<T>", true, "tidepool", "pool");

    /// <summary>The memory resource.</summary>
    public static readonly NativeSubject Resource = new("tidepool pmr", true, "tidepool", "pmr");

    /// <summary>Boost's pool for one thread.</summary>
    public static readonly NativeSubject BoostPool = Boost("boost::pool", "boost-pool") with { ManyThreads = false };

    /// <summary>Boost's pool behind a mutex.</summary>
    public static readonly NativeSubject BoostSingleton = Boost("boost::singleton_pool", "boost-singleton");

    /// <summary>The standard library's pool resource behind a mutex.</summary>
    public static readonly NativeSubject Synchronized = new("std::pmr synchronized", false, "rivals", "pmr-synchronized");

    /// <summary>The standard library's pool resource for one thread.</summary>
    public static readonly NativeSubject Unsynchronized = new(
        "std::pmr unsynchronized", false, "rivals", "pmr-unsynchronized") { ManyThreads = false };

    /// <summary>All rivals.</summary>
    public static IEnumerable<NativeSubject> Rivals { get; } =
        [Vector, MutexPool, .. Peers, BoostPool, BoostSingleton, Synchronized, Unsynchronized];

    /// <summary>All mallocs, or three of them in the quick tour; ours comes last.</summary>
    public static NativeSubject[] Mallocs(LabMode mode) => mode == LabMode.Full ? [.. Peers, Shared] : [CLibrary, Mimalloc, Shared];

    /// <summary>Names the versions of the rivals that are there, and the packages of those that are not.</summary>
    public static void DescribeRivals(LabPlan plan)
    {
        plan.Rivals["C library"] = SystemLibraries.CLibrary;
        plan.Rivals["mutex-pool"] = "written for the lab, as the classic design is described";
        plan.Rivals["std::vector, std::pmr"] = SystemLibraries.VersionOf("libstdc++6") is { } version
            ? $"libstdc++ {version}"
            : "the compiler's library";
        foreach (var rival in Rivals.Where(rival => rival is { Package: not null, IsInstalled: true }))
        {
            plan.Rivals[rival.Package!] = SystemLibraries.VersionOf(rival.Package!, rival.LibraryPath ?? rival.Header!);
        }

        string[] missing = [.. Rivals.Where(rival => !rival.IsInstalled).Select(rival => rival.Package!).Distinct()];
        if (missing.Length > 0)
        {
            plan.Hints.Add($"Rivals that are not measured because they are not installed: apt-get install {string.Join(' ', missing)}");
        }
    }

    private static NativeSubject Preloaded(string name, string library, string package) =>
        new(name, false, "malloc", "malloc") { Library = library, Package = package };

    private static NativeSubject Boost(string name, string face) =>
        new(name, false, "rivals", face) { Header = "/usr/include/boost/pool/pool.hpp", Package = "libboost-dev" };
}
