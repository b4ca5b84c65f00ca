using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Advice;

/// <summary>Names addresses of native code by the debugging information of its files: addr2line of GNU Binutils reads it.</summary>
internal sealed class AddressNames
{
    /// <summary>How to get the program that names them.</summary>
    public const string HowToInstall = "apt-get install binutils";

    private const string Program = "addr2line";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly Dictionary<(LoggedModule Module, ulong Offset), StackPlace[]> _places = [];

    /// <summary>Whether nothing could be named, because the program is missing.</summary>
    public bool IsMissing { get; private set; }

    /// <summary>Names the addresses of a log.</summary>
    /// <param name="log">The log.</param>
    /// <param name="addresses">Return addresses.</param>
    /// <param name="stop">Ends the search: what is left stays without a name.</param>
    public static async Task<AddressNames> ReadAsync(SampleLog log, IEnumerable<ulong> addresses, CancellationToken stop)
    {
        var names = new AddressNames();
        var known = from address in addresses.Distinct()
                    let module = log.ModuleOf(address - 1)
                    where module is not null && File.Exists(module.Path)
                    group CallOf(address, module) by module;
        foreach (IGrouping<LoggedModule, ulong> module in known)
        {
            await names.ReadAsync(module.Key, [.. module], stop);
        }

        return names;
    }

    /// <summary>The names that an answer of addr2line gives the addresses of one module.</summary>
    internal static AddressNames Of(LoggedModule module, TextReader answer)
    {
        var names = new AddressNames();
        names.Add(module, answer);
        return names;
    }

    /// <summary>The frames at a return address, those that were inlined first; one without a name where nothing names it.</summary>
    public IReadOnlyList<StackPlace> PlacesOf(SampleLog log, ulong address)
    {
        if (log.ModuleOf(address - 1) is not { } module)
        {
            return [new StackPlace("", $"0x{address:x}", "", 0)];
        }

        return _places.TryGetValue((module, CallOf(address, module)), out StackPlace[]? places)
            ? places
            : [Unnamed(module, CallOf(address, module))];
    }

    /// <summary>
    /// Reads what addr2line answers with <c>-a -f -i</c>: an address, then pairs of a function and a place. It ends where the answer is
    /// not of this form.
    /// </summary>
    internal static IEnumerable<(ulong Offset, StackPlace[] Places)> Parse(LoggedModule module, TextReader answer)
    {
        string? line = answer.ReadLine();
        while (line is not null && line.StartsWith("0x", StringComparison.Ordinal)
            && ulong.TryParse(line.AsSpan(2), NumberStyles.HexNumber, CultureInfo.InvariantCulture, out ulong offset))
        {
            List<StackPlace> places = [];
            while ((line = answer.ReadLine()) is not null && !line.StartsWith("0x", StringComparison.Ordinal))
            {
                string place = answer.ReadLine() ?? "";
                places.Add(line == "??" ? Unnamed(module, offset) : PlaceOf(module, line, place));
            }

            yield return (offset, [.. places]);
        }
    }

    private static StackPlace PlaceOf(LoggedModule module, string function, string place)
    {
        int colon = place.LastIndexOf(':');
        string file = colon > 0 ? place[..colon] : "";
        ReadOnlySpan<char> number = colon > 0 ? place.AsSpan(colon + 1) : "";
        int space = number.IndexOf(' '); // "12 (discriminator 3)"
        bool isKnown = int.TryParse(space > 0 ? number[..space] : number, CultureInfo.InvariantCulture, out int line) && file != "??";
        return new StackPlace(Path.GetFileName(module.Path), NativeFrame.NameOf(function), isKnown ? file : "", isKnown ? line : 0);
    }

    private static StackPlace Unnamed(LoggedModule module, ulong offset) =>
        new(Path.GetFileName(module.Path), $"{Path.GetFileName(module.Path)}+0x{offset:x}", "", 0);

    /// <summary>The address of the call in the file: the return address may be the first of the next function or line.</summary>
    private static ulong CallOf(ulong address, LoggedModule module) => address - 1 - module.Load;

    private async Task ReadAsync(LoggedModule module, ulong[] offsets, CancellationToken stop)
    {
        var info = new ProcessStartInfo(Program, ["-a", "-f", "-i", "-C", "-e", module.Path])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        info.Environment["DEBUGINFOD_URLS"] = ""; // asks no server
        Process process;
        try
        {
            process = Process.Start(info)!;
        }
        catch (Win32Exception)
        {
            IsMissing = true;
            return;
        }

        using (process)
        {
            string answer = await AskAsync(process, offsets, stop);
            Add(module, new StringReader(answer));
        }
    }

    private void Add(LoggedModule module, TextReader answer)
    {
        foreach ((ulong offset, StackPlace[] places) in Parse(module, answer))
        {
            _places[(module, offset)] = places;
        }
    }

    /// <summary>The whole answer; nothing when the program ends before, takes too long, or is not waited for any more.</summary>
    private static async Task<string> AskAsync(Process process, ulong[] offsets, CancellationToken stop)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(Patience);
        try
        {
            Task<string> answer = process.StandardOutput.ReadToEndAsync(limit.Token);
            Task<string> errors = process.StandardError.ReadToEndAsync(limit.Token);
            await WriteAsync(process.StandardInput, offsets, limit.Token);
            await errors; // a file that it cannot read: its addresses stay without names
            string text = await answer;
            await process.WaitForExitAsync(limit.Token);
            return text;
        }
        catch (OperationCanceledException)
        {
            Launcher.Kill(process);
            return "";
        }
    }

    private static async Task WriteAsync(StreamWriter input, ulong[] offsets, CancellationToken stop)
    {
        try
        {
            await input.WriteAsync(string.Concat(offsets.Select(static offset => $"0x{offset:x}\n")).AsMemory(), stop);
            input.Close();
        }
        catch (IOException)
        {
            // It has ended: what it answered before is read.
        }
    }
}
