using System.Reflection;

namespace Tidepool.Tests.Streams;

/// <summary>A virtual member that is not overridden would work on the empty buffer of the base class.</summary>
public sealed class OverrideTests
{
    private const BindingFlags Declared = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    /// <summary>Members whose base looks at no content: they throw, say false, or call members that are overridden.</summary>
    private static readonly string[] Inherited =
    [
        "get_CanTimeout", "get_ReadTimeout", "set_ReadTimeout", "get_WriteTimeout", "set_WriteTimeout", "BeginRead", "EndRead",
        "BeginWrite", "EndWrite", "CreateWaitHandle", "ObjectInvariant", "DisposeAsync",
    ];

    public static TheoryData<string> Virtuals() =>
        [.. VirtualsOf(typeof(PooledMemoryStream)).Where(m => !Inherited.Contains(m.Name)).Select(m => m.ToString()!).Distinct()];

    [Theory]
    [MemberData(nameof(Virtuals))]
    public void Every_virtual_of_Stream_and_MemoryStream_is_overridden(string member)
    {
        MethodInfo[] methods = [.. VirtualsOf(typeof(PooledMemoryStream)).Where(m => m.ToString() == member)];
        Assert.All(methods, m => Assert.Equal(typeof(PooledMemoryStream), m.DeclaringType));
    }

    [Fact]
    public void The_members_that_matter_are_among_those_looked_at()
    {
        string[] names = [.. VirtualsOf(typeof(PooledMemoryStream)).Select(m => m.Name)];
        string[] expected =
        [
            "Read", "Write", "Seek", "SetLength", "GetBuffer", "TryGetBuffer", "ToArray", "WriteTo", "CopyToAsync", "BeginRead",
            "EndWrite", "DisposeAsync", "Close", "get_Capacity", "set_Position",
        ];
        foreach (string name in expected)
        {
            Assert.Contains(name, names);
        }
    }

    /// <summary>Methods that a stream class may override: those whose first declaration is in Stream or MemoryStream.</summary>
    private static IEnumerable<MethodInfo> VirtualsOf(Type type) =>
        from method in type.GetMethods(Declared)
        where method is { IsVirtual: true, IsFinal: false } && method.GetBaseDefinition().DeclaringType is { } first
            && (first == typeof(Stream) || first == typeof(MemoryStream))
        select method;
}
