using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Natives;

/// <summary>Programs that were not written for this lab run under the library, and what they used is known.</summary>
[Trait("Category", "Slow")]
public class PreloadProgramTests
{
    private const string Python = "python3, its own tests";
    private const string Sqlite = "sqlite3, bulk load";
    private const string Redis = "redis-server, SET GET LPUSH";
    private const string Git = "git gc, 1000 commits";
    private const string Compiler = "g++, a file of this library";

    [ProgramFact(Python)]
    public void Python_passes_its_own_tests() => Run(Python);

    [ProgramFact(Sqlite)]
    public void Sqlite_loads_a_table() => Run(Sqlite);

    [ProgramFact(Redis)]
    public void Redis_serves_its_benchmark() => Run(Redis);

    [ProgramFact(Git)]
    public void Git_packs_a_history() => Run(Git);

    [ProgramFact(Compiler)]
    public void The_compiler_compiles_this_library() => Run(Compiler);

    private static void Run(string name)
    {
        NativeDrivers.NeedBuild();
        string folder = Directory.CreateTempSubdirectory("tidepool-lab-").FullName;
        try
        {
            Assert.True(ProgramOf(name).Run(folder, NativeSubjects.Shared)["user_ns"] > 0);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static PreloadProgram ProgramOf(string name) => PreloadPrograms.All.Single(program => program.Name == name);

    /// <summary>Skipped, with the line that installs it, where the program is missing.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    [TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
    private sealed class ProgramFactAttribute : FactAttribute, ITraitAttribute
    {
        public ProgramFactAttribute(string name) =>
            Skip = NativeDrivers.Missing ?? (
                ProgramOf(name).IsThere() ? null : $"Missing. Install it with: apt-get install {ProgramOf(name).Package}");
    }
}
