namespace Tidepool.Advice.Tests.Natives;

/// <summary>What cannot be recorded is refused with the way out.</summary>
public sealed class NativeRefusalTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("tidepool refusals ");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void A_library_that_is_not_there_is_looked_for_nowhere_else()
    {
        if (OperatingSystem.IsLinux())
        {
            string missing = Path.Combine(_folder.FullName, "missing.so");
            TargetException refused = Assert.Throws<TargetException>(() => PreloadLibrary.Find(missing));
            Assert.Equal(TargetProblem.OutOfReach, refused.Problem);
            Assert.Contains($"is in none of: {missing}. In a clone", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_library_in_a_folder_that_the_loader_cannot_be_told_is_refused()
    {
        if (OperatingSystem.IsLinux())
        {
            string file = Path.Combine(_folder.FullName, "there.so");
            File.WriteAllText(file, "");
            TargetException refused = Assert.Throws<TargetException>(() => PreloadLibrary.Find(file));
            Assert.Contains($"a space or a colon: {file}", refused.Message, StringComparison.Ordinal);
        }
    }

    [NativeProgramFact]
    public async Task A_command_that_does_not_start_is_refused()
    {
        string program = Path.Combine(_folder.FullName, "program");
        await File.WriteAllTextAsync(program, "no program");
        foreach (string command in (string[])[program, Path.Combine(_folder.FullName, "missing")])
        {
            TargetException refused = await Assert.ThrowsAsync<TargetException>(
                () => NativeSampler.RunAsync([command], seconds: 1, CancellationToken.None));
            Assert.Equal(TargetProblem.WrongTarget, refused.Problem);
            Assert.StartsWith($"'{command}' does not start: ", refused.Message, StringComparison.Ordinal);
        }
    }
}
