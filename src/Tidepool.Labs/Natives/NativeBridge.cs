namespace Tidepool.Labs;

/// <summary>Pools of native memory for the labs: over the library that the clone has built, unless TIDEPOOL_NATIVE names another.</summary>
internal static class NativeBridge
{
    /// <summary>What to say when the library is not there.</summary>
    public static string Missing => NativeBuild.Missing;

    private const string Variable = "TIDEPOOL_NATIVE";

    /// <summary>Whether the library is there.</summary>
    public static bool Exists { get; } = Find();

    /// <summary>A pool whose buffers are native memory, aligned to as many bytes as asked.</summary>
    public static BufferPool<byte> NewPool(int alignment = 0) => BufferPool<byte>.Create(new BufferPoolOptions<byte>
    {
        Name = $"labs.native.{alignment}",
        Source = NativeSource<byte>.Instance,
        Alignment = alignment,
    });

    private static bool Find()
    {
        // The copy beside this assembly is as old as its build; the clone's own may have been built since.
        if (Environment.GetEnvironmentVariable(Variable) is null or { Length: 0 } && NativeBuild.Find("libtidepool.so") is { } built)
        {
            Environment.SetEnvironmentVariable(Variable, built);
        }

        return TidepoolNative.IsAvailable;
    }
}
