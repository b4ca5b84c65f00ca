using System.Diagnostics;
using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>
/// What happens to the pool's own process: pauses, too little of the processor, and no more threads, descriptors or ports. Each in a
/// child process.
/// </summary>
public sealed class ProcessFaults(FaultServer server) : FaultTest(server)
{
    private const string Ports = "40000 40015";

    [PostgresFact]
    [Trait("Category", "Slow")]
    public async Task A_process_that_was_stopped_ends_only_what_was_idle_for_too_long()
    {
        using ChildTest child = ChildTest.Start(Cluster.ConnectionString, "pause");
        await child.ReadAsync("ready");
        await child.SignalAsync("STOP");
        await Task.Delay(TimeSpan.FromSeconds(ChildParts.PauseSeconds));
        await child.SignalAsync("CONT");
        await child.WriteAsync("go on");

        await child.EndAsync();
    }

    [PostgresFact]
    public async Task What_happened_in_time_and_is_noticed_late_for_want_of_a_free_thread_stands()
    {
        FaultProxy proxy = NewProxy();
        using ChildTest child = ChildTest.Start(Cluster.ConnectionStringTo(proxy.Port), "late");
        await child.ReadAsync("ready");
        proxy.ToClient.IsBlackhole = true; // no answer is there so early that no caller waits for it
        await child.WriteAsync("go on");
        await child.ReadAsync("asked");
        proxy.ToClient.IsBlackhole = false;
        await child.WriteAsync("go on");

        await child.EndAsync();
    }

    [PostgresFact]
    public async Task On_a_processor_that_others_take_deadlines_end_and_no_session_is_lost()
    {
        using ChildTest child = ChildTest.Start(Cluster.ConnectionString, "busy", "taskset", "-c", FirstProcessor());

        await child.EndAsync();
    }

    /// <summary>
    /// The runtime itself needs descriptors for each new thread, and for code that is written and run at two addresses, and ends without
    /// them: it gets no reason to.
    /// </summary>
    private const string FewFiles =
        "ulimit -n 1000; export DOTNET_EnableWriteXorExecute=0 DOTNET_ThreadPool_ThreadTimeoutMs=-1 DOTNET_TieredCompilation=0 "
            + "DOTNET_gcConcurrent=0; exec \"$@\"";

    [PostgresFact]
    public async Task Without_file_descriptors_sessions_are_not_opened_and_nothing_leaks()
    {
        using ChildTest child = ChildTest.Start(Cluster.ConnectionString, "files", "sh", "-c", FewFiles, "sh");

        await child.EndAsync();
    }

    [NamespaceFact]
    public async Task Without_ports_sessions_are_not_opened_and_those_that_live_go_on()
    {
        string socket = new NpgsqlConnectionStringBuilder(Cluster.ConnectionString) { Host = Cluster.Folder }.ConnectionString;
        using ChildTest child =
            ChildTest.Start(
                socket,
                "ports",
                [.. NamespaceFactAttribute.Front, "sh", "-c", NamespaceFactAttribute.Setup + "; exec \"$@\"", "sh"]);

        await child.EndAsync();
    }

    /// <summary>One that this process may use: "2" of "2-5,7".</summary>
    private static string FirstProcessor()
    {
        const string name = "Cpus_allowed_list:";
        string list =
            File.ReadLines("/proc/self/status")
                .Single(static line => line.StartsWith(name, StringComparison.Ordinal))[name.Length..].Trim();
        return list.Split('-', ',')[0];
    }

    /// <summary>A fact that needs a server and a network namespace of its own; skipped where the user may not make one.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    private sealed class NamespaceFactAttribute : PostgresFactAttribute
    {
        /// <summary>Makes the namespace; a user who is not root becomes it there.</summary>
        public static readonly string[] Front = Environment.IsPrivilegedProcess ? ["unshare", "-n"] : ["unshare", "-Urn"];

        /// <summary>Brings up the loopback address and leaves few ports.</summary>
        public const string Setup = $"ip link set lo up && echo {Ports} >/proc/sys/net/ipv4/ip_local_port_range";

        private static readonly Lazy<string?> Missing = new(Find);

        public NamespaceFactAttribute() => Skip ??= Missing.Value;

        private static string? Find()
        {
            const string what = "The test needs a network namespace with a port range of its own";
            try
            {
                string[] command = [.. Front, "sh", "-c", Setup];
                using var process = Process.Start(new ProcessStartInfo(command[0], command[1..]) { RedirectStandardError = true })!;
                string errors = process.StandardError.ReadToEnd();
                process.WaitForExit();
                return process.ExitCode == 0 ? null
                    : errors.Contains("not found", StringComparison.Ordinal) ? $"{what}. Install what is missing with: "
                        + "apt-get install iproute2"
                    : $"{what}, which this user may not make: {errors.Trim()}";
            }
            catch (System.ComponentModel.Win32Exception)
            {
                return $"{what}. Install what is missing with: apt-get install util-linux iproute2";
            }
        }
    }
}
