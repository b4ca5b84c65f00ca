namespace Tidepool.Labs.Tests.Kestrel;

/// <summary>Starts what lab <c>kestrel</c> starts.</summary>
internal static class LoadServers
{
    /// <summary>The program that the lab is part of.</summary>
    public static readonly ChildCommand Program = new("dotnet", [Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll")]);

    private static readonly CorePair Cores = CorePair.OfThisMachine() ?? default;

    /// <summary>A client on the other core.</summary>
    public static LoadClient Client => new(Cores.Client);

    /// <summary>A server; its pool is watched when that is asked for.</summary>
    public static ServerProcess Start(string memory, bool watches = false) => Start(Program, memory, watches);

    /// <summary>Starts another program in place of a server.</summary>
    public static ServerProcess Start(ChildCommand program, string memory, bool watches = false) =>
        ServerProcess.Start(program, Cores.Server, Enum.Parse<KestrelMemory>(memory), watches);
}
