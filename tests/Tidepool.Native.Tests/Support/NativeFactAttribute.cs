namespace Tidepool.Native.Tests.Support;

/// <summary>A fact that is skipped where the native library is missing, and then names the command that builds it.</summary>
public sealed class NativeFactAttribute : Xunit.FactAttribute
{
    public NativeFactAttribute() => Skip = NativeLibraryFiles.WhyNot;
}

/// <summary>A theory that is skipped where the native library is missing, and then names the command that builds it.</summary>
public sealed class NativeTheoryAttribute : Xunit.TheoryAttribute
{
    public NativeTheoryAttribute() => Skip = NativeLibraryFiles.WhyNot;
}

/// <summary>A fact about the checked library: skipped where that is missing.</summary>
public sealed class CheckedFactAttribute : Xunit.FactAttribute
{
    public CheckedFactAttribute() => Skip = NativeLibraryFiles.WhyNot ?? NativeLibraryFiles.WhyNotChecked;
}
