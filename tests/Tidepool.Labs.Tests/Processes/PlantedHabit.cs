using System.Diagnostics;

namespace Tidepool.Labs.Tests.Processes;

/// <summary>A program that allocates at its pace, for the verbs that look at one. It ends with the test.</summary>
internal sealed class PlantedHabit : IDisposable
{
    /// <summary>What it does unless told otherwise.</summary>
    public const string Name = "byte arrays";

    private readonly Process _process;

    private PlantedHabit(string name) => _process = Process.Start(
        new ProcessStartInfo("dotnet", [ToolProgram.Path, PlantedProgram.Argument, name, PlantedProgram.Before, PlantedProgram.Paced])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;

    /// <summary>The number of its process.</summary>
    public int Id => _process.Id;

    /// <summary>Starts it and waits until it works.</summary>
    /// <param name="name">Its habit.</param>
    public static PlantedHabit Start(string name = Name)
    {
        var habit = new PlantedHabit(name);
        if (habit._process.StandardOutput.ReadLine() is null)
        {
            habit.Dispose();
            Assert.Fail("the planted program has ended");
        }

        return habit;
    }

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
    }
}
