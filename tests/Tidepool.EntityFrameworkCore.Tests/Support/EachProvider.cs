using System.Reflection;

namespace Tidepool.Data.Tests.Support;

/// <summary>Public static methods that take a database and are run by name, on each provider.</summary>
internal static class EachProvider
{
    internal static TheoryData<string> NamesOf(Type type) =>
        [.. type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly)
            .Where(static method => method.ReturnType == typeof(Task)).Select(static method => method.Name)];

    internal static async Task RunAsync(Type type, string name, TestDatabase database)
    {
        await using (database)
        {
            await (Task)type.GetMethod(name)!.Invoke(null, [database])!;
        }
    }
}
