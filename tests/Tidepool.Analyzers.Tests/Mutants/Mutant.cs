namespace Tidepool.Analyzers.Tests.Mutants;

/// <summary>A method in which one thing was changed.</summary>
/// <param name="Seed">The method.</param>
/// <param name="Style">The kind of library code that it stands for.</param>
/// <param name="Change">What was done.</param>
/// <param name="Rule">The rule that the change breaks.</param>
/// <param name="Code">The whole file.</param>
/// <param name="NotCounted">Why the change need not be found: no misuse, not on a normal path, or not within one method; or null.</param>
internal sealed record Mutant(string Seed, string Style, string Change, string Rule, string Code, string? NotCounted = null);
