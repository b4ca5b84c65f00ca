// Findings that the author has looked at.
using System.CodeDom.Compiler;
using System.Diagnostics.CodeAnalysis;

namespace Traps;

internal sealed class Suppressed
{
    [Trap("suppressed by attribute")]
    [SuppressMessage("Reliability", "POOL001", Justification = "The fixture shows that the attribute is obeyed.")]
    public static void ByAttribute(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        ArrayPool<byte>.Shared.Return(array);
        ArrayPool<byte>.Shared.Return(array);
    }

    [Trap("suppressed by pragma")]
    public static void ByPragma(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        ArrayPool<byte>.Shared.Return(array);
#pragma warning disable POOL001
        ArrayPool<byte>.Shared.Return(array);
#pragma warning restore POOL001
    }

    [Trap("a type with GeneratedCode")]
    [GeneratedCode("tool", "1.0")]
    public static class ByTool
    {
        public static void Parse(int length)
        {
            byte[] array = ArrayPool<byte>.Shared.Rent(length);
            ArrayPool<byte>.Shared.Return(array);
            ArrayPool<byte>.Shared.Return(array);
        }
    }
}
