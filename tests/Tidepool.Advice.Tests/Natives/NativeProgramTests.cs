using System.Buffers.Binary;
using Tidepool.Preloading;

namespace Tidepool.Advice.Tests.Natives;

public sealed class NativeProgramTests : IDisposable
{
    private static readonly byte[] Mark = [.. "DotNetRuntimeDebugHeader"u8];

    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool-native-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData(true, "native")]
    [InlineData(true, "native", "dotnet")]
    [InlineData(false, "host")]
    [InlineData(false, "script")]
    [InlineData(true, "env", "X=1", "native")]
    [InlineData(false, "env", "X=1", "dotnet", "app.dll")]
    [InlineData(false, "env", "X=1", "host")]
    [InlineData(false, "nice", "-n", "5", "/usr/share/dotnet/dotnet", "app.dll")]
    [InlineData(false, "sh", "-c", "cd /tmp && exec dotnet app.dll")]
    [InlineData(true, "sh", "-c", "exec native --name dotnets")]
    public void Launchers_are_what_they_start(bool expected, params string[] words)
    {
        if (!OperatingSystem.IsLinux())
        {
            return; // native programs are looked at on Linux only
        }

        foreach (string name in (string[])["native", "env", "nice", "sh"])
        {
            File.WriteAllBytes(PathOf(name), Elf(2));
        }

        File.WriteAllBytes(PathOf("host"), [.. Elf(2), .. Mark]);
        File.WriteAllText(PathOf("script"), "#!/bin/sh\n");
        string[] inFolder = [.. words.Select(word => File.Exists(PathOf(word)) ? PathOf(word) : word)];
        Assert.Equal(expected, NativeProgram.IsNative(inFolder));
    }

    [Fact]
    public void A_program_is_sampled_as_the_runtime_samples_and_keeps_what_it_preloads()
    {
        var environment = new Dictionary<string, string?>();
        PreloadEnvironment.Record(environment, "/ours.so", "/log");
        PreloadEnvironment.Preload(environment, "/other.so");

        Assert.Equal(
            ["LD_PRELOAD=/other.so:/ours.so", "TIDEPOOL_SAMPLE_BYTES=102400", "TIDEPOOL_SAMPLE_LOG=/log"],
            environment.Select(static variable => $"{variable.Key}={variable.Value}"));
        Assert.Equal(1 / AllocationEstimate.ByteProbability, PreloadEnvironment.MeanBytes, 6);
    }

    [Theory]
    [InlineData(1, 64)]
    [InlineData(2, -1)]
    [InlineData(2, long.MaxValue)]
    public void A_library_of_64_bits_is_preloaded_into_no_other_program_and_no_damaged_one(byte size, long headers)
    {
        byte[] file = Elf(size);
        BinaryPrimitives.WriteInt64LittleEndian(file.AsSpan(32), headers);
        BinaryPrimitives.WriteInt16LittleEndian(file.AsSpan(54), 56);
        BinaryPrimitives.WriteInt16LittleEndian(file.AsSpan(56), 2);
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(64), 3); // an interpreter, where 64 bits have it
        File.WriteAllBytes(PathOf("odd"), file);
        Assert.False(NativeProgram.CanPreload(PathOf("odd")));
        BinaryPrimitives.WriteInt64LittleEndian(file.AsSpan(32), 64);
        file[4] = 2;
        File.WriteAllBytes(PathOf("even"), file);
        Assert.True(NativeProgram.CanPreload(PathOf("even")));
    }

    private static byte[] Elf(byte size)
    {
        var file = new byte[256];
        "\u007fELF"u8.CopyTo(file);
        file[4] = size;
        return file;
    }

    private string PathOf(string name) => Path.Combine(_folder, name);
}
