namespace Tidepool.Packages;

/// <summary>Builds the projects of tests/consumers against the packages.</summary>
internal static class Consumers
{
    /// <summary>Builds and runs a project, and gives the lines it prints.</summary>
    public static async Task<string[]> RunAsync(string name)
    {
        (Dictionary<string, string> variables, string[] where) = await PlaceAsync(name);
        await Programs.RunAsync(Project(name), variables, "dotnet", ["build", "-c", "Release", .. where]);
        string program = Path.Combine(Artifacts(name), "bin", name, "release", $"{name}.dll");
        return (await Programs.RunAsync(Project(name), Clones.None, "dotnet", program)).Lines;
    }

    /// <summary>Publishes a project for this system, and gives the path of the program.</summary>
    public static async Task<string> PublishAsync(string name, params string[] options)
    {
        (Dictionary<string, string> variables, string[] where) = await PlaceAsync(name);
        string folder = Path.Combine(Artifacts(name), "published");
        await Programs.RunAsync(Project(name), variables, "dotnet", ["publish", "-c", "Release", "-o", folder, .. where, .. options]);
        return Path.Combine(folder, name);
    }

    private static string Project(string name) => Repository.At(Path.Combine("tests/consumers", name));

    private static string Artifacts(string name) => Clones.Scratch(Path.Combine("consumers", name));

    private static async Task<(Dictionary<string, string> Variables, string[] Where)> PlaceAsync(string name)
    {
        Feed feed = await Clones.FeedAsync();
        Dictionary<string, string> variables = Clones.Variables;
        variables["RestoreAdditionalProjectSources"] = feed.Folder;
        variables["TidepoolVersion"] = feed.Version;
        return (variables, ["--nologo", "--artifacts-path", Artifacts(name)]);
    }
}
