using System.ComponentModel;
using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>
/// A network of one process's own, with loopback alone, few ports for clients, and none that is used again while it is in TIME_WAIT.
/// Nothing outside of it changes, and it ends with the process.
/// </summary>
internal static class NetworkNamespace
{
    /// <summary>Ports that clients may use.</summary>
    public const int Ports = 1000;

    private const string Setup =
        "ip link set lo up && echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse && echo '20000 20999' > /proc/sys/net/ipv4/ip_local_port_range";

    /// <summary>Why it cannot be had, or null when it can: makes one and lets it end.</summary>
    public static string? Refuse()
    {
        if (!OperatingSystem.IsLinux())
        {
            return "it needs Linux";
        }

        try
        {
            var info = new ProcessStartInfo("unshare", ["-Urn", "sh", "-c", Setup])
            {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            };
            using var process = Process.Start(info) ?? throw new LabProcessException("unshare did not start");
            process.StandardInput.Close();
            string errors = process.StandardError.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0
                ? null
                : $"{errors.Trim()} (needs unshare of util-linux, ip of iproute2, and the right to make one)";
        }
        catch (Win32Exception)
        {
            return "unshare is missing. Install it with: apt-get install util-linux";
        }
    }

    /// <summary>The command that starts a child in a network of its own.</summary>
    /// <exception cref="LabProcessException">The system or the user's rights do not allow one; the message says what failed.</exception>
    public static ChildCommand Enter(ChildCommand child) =>
        Refuse() is { } reason
            ? throw new LabProcessException($"no network namespace of its own: {reason}")
            : new ChildCommand("unshare", ["-Urn", "sh", "-c", $"{Setup} && exec \"$@\"", "sh", child.FileName, .. child.LeadingArguments]);
}
