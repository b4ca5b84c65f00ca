namespace System.Runtime.CompilerServices;

/// <summary>The compiler asks for this type in records, and netstandard2.0 has none.</summary>
internal static class IsExternalInit;
