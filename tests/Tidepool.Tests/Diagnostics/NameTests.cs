namespace Tidepool.Tests.Diagnostics;

/// <summary>Names that the library has written down, so that programs compiled ahead of time need not ask the platform.</summary>
public class NameTests
{
    [Fact]
    public void Kinds_of_misuse_have_their_names() => Assert.Equal(Enum.GetNames<MisuseKind>(), MisuseText.Names);

    [Fact]
    public void Element_types_have_their_names()
    {
        AssertNamed<byte>();
        AssertNamed<char>();
        AssertNamed<int>();
        AssertNamed<long>();
        AssertNamed<float>();
        AssertNamed<double>();
        AssertNamed<short>();
        AssertNamed<Guid>();
        AssertNamed<string>();
    }

    private static void AssertNamed<T>() => Assert.Equal(typeof(T).Name, TypeName.Of<T>());
}
