using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

namespace Tidepool.Advice;

/// <summary>
/// Reads the session of a window: what collections did, and what the process wrote at the end about its methods, their code and its
/// assemblies.
/// </summary>
internal static class WindowReader
{
    /// <summary>Reads a recording. One that the end of the process has torn gives what it has.</summary>
    /// <param name="file">The file of the session.</param>
    /// <param name="seconds">How long the session was open.</param>
    public static WindowRecording Read(string file, double seconds)
    {
        List<(long Module, CodeRange Range)> ranges = [];
        Dictionary<long, string> paths = [];
        Dictionary<long, (int, int)[]> maps = [];
        CollectionReader? collections = null;
        try
        {
            using var source = new EventPipeEventSource(file);
            collections = new CollectionReader(source);
            var rundown = new ClrRundownTraceEventParser(source);
            rundown.LoaderModuleDCStop += module => paths[module.ModuleID] = module.ModuleILPath;
            rundown.MethodILToNativeMapDCStop += map => maps[map.MethodID] = MapOf(map);
            rundown.MethodDCStopVerbose += method =>
            {
                // A method's map is written before its code: the map of another compiled form is not there yet, or is used up.
                maps.Remove(method.MethodID, out (int, int)[]? map);
                ranges.Add((method.ModuleID, RangeOf(method, map ?? [])));
            };
            source.Process();
        }
        catch (Exception failure) when (failure is IOException or FormatException or InvalidOperationException)
        {
            // Torn: the process was killed.
        }

        return new WindowRecording(
            new SymbolTable(ranges.Select(one => one.Range with { AssemblyPath = paths.GetValueOrDefault(one.Module, "") })),
            collections?.HistoryOf(seconds) ?? new CollectionHistory());
    }

    private static CodeRange RangeOf(MethodLoadUnloadVerboseTraceData method, (int, int)[] map) => new()
    {
        Start = method.MethodStartAddress,
        Size = (uint)method.MethodSize,
        Method = FrameRules.Readable($"{method.MethodNamespace}.{method.MethodName}"),
        Token = method.MethodToken,
        Map = map,
    };

    private static (int Native, int Intermediate)[] MapOf(MethodILToNativeMapTraceData map)
    {
        var pairs = new (int Native, int Intermediate)[map.CountOfMapEntries];
        for (int i = 0; i < pairs.Length; i++)
        {
            pairs[i] = (map.NativeOffset(i), map.ILOffset(i));
        }

        Array.Sort(pairs);
        return pairs;
    }
}
