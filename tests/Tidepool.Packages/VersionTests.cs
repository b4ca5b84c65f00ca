namespace Tidepool.Packages;

/// <summary>How the version comes from the commit.</summary>
[Trait("Category", "Slow")]
public sealed class VersionTests
{
    [PackedFact]
    public async Task The_version_is_that_of_the_commit_s_tag_or_its_time()
    {
        string clone = await ScratchAsync("versions");
        string dev = await VersionAsync(clone);
        string time = (await Clones.GitAsync(clone, "log", "-1", "--format=%cd", "--date=format-local:%Y%m%d-%H%M%S")).Output.Trim();
        Assert.Equal($"0.1.0-dev.{time}", dev);

        await Clones.GitAsync(clone, "tag", "v0.1.0-rc.1");
        Assert.Equal("0.1.0-rc.1", await VersionAsync(clone));
        await Clones.GitAsync(clone, "tag", "--delete", "v0.1.0-rc.1");
        await Clones.GitAsync(clone, "tag", "v0.1.0");
        Assert.Equal("0.1.0", await VersionAsync(clone));
        Assert.Equal("3.2.1", await VersionAsync(clone, "-p:Version=3.2.1"));
        Assert.Equal("0.1.0-mine", await VersionAsync(clone, "-p:VersionSuffix=mine"));

        await Clones.GitAsync(clone, "tag", "--delete", "v0.1.0");
        await Clones.GitAsync(clone, "tag", "v0.10.0");
        Ended refused = await AskAsync(clone);
        Assert.NotEqual(0, refused.Code);
        Assert.Contains("The commit has the tag v0.10.0", refused.Errors, StringComparison.Ordinal);

        Directory.Delete(Path.Combine(clone, ".git"), recursive: true);
        Assert.Equal("0.1.0-local", await VersionAsync(clone));
    }

    [PackedFact]
    public async Task A_clone_of_GitHub_links_its_symbols_to_the_sources_there()
    {
        string clone = await ScratchAsync("linked");
        await Clones.GitAsync(clone, "remote", "set-url", "origin", "https://github.com/example/tidepool.git");
        await Programs.RunAsync(clone, Clones.None, "dotnet", "restore", "src/Tidepool");
        string[] how = ["-c", "Release", "--no-restore", "-p:ContinuousIntegrationBuild=true"];
        await Programs.RunAsync(
            clone, Clones.None, "dotnet", ["build", "src/Tidepool", "-t:PrepareForBuild;GenerateSourceLinkFile", .. how]);
        string commit = (await Clones.GitAsync(clone, "rev-parse", "HEAD")).Output.Trim();
        string links = await File.ReadAllTextAsync(Path.Combine(clone, "src/Tidepool/obj/Release/net10.0/Tidepool.sourcelink.json"));
        Assert.Equal($$$"""{"documents":{"/_/*":"https://raw.githubusercontent.com/example/tidepool/{{{commit}}}/*"}}""", links);
    }

    private static async Task<string> ScratchAsync(string name)
    {
        string first = await Clones.FirstAsync();
        string clone = Clones.Scratch(name);
        await Clones.GitAsync(first, "clone", "--quiet", first, clone);
        return clone;
    }

    private static async Task<string> VersionAsync(string clone, params string[] options)
    {
        Ended asked = await AskAsync(clone, options);
        Assert.True(asked.Code == 0, asked.Output + asked.Errors);
        return asked.Output.Trim();
    }

    private static Task<Ended> AskAsync(string clone, params string[] options) => Programs.TryAsync(
        clone, new Dictionary<string, string> { ["TZ"] = "UTC" }, "dotnet",
        ["build", "src/Tidepool", "-t:VersionOfCommit", "-getProperty:PackageVersion", .. options]);
}
