using System.Reflection;

namespace Tidepool.Labs.Tests;

/// <summary>Where the repository is.</summary>
internal static class Repository
{
    public static string Root { get; } = typeof(Repository).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Single(attribute => attribute.Key == "RepositoryRoot").Value!;
}
