using System.Collections.Immutable;
using Microsoft.CodeAnalysis;

namespace Tidepool.Analyzers;

/// <summary>The rules, one descriptor each. A page of docs/rules explains each one.</summary>
internal static class Rules
{
    private const string Category = "Tidepool.Pools";
    private const string Pages = "docs/rules/"; // in the repository and in the package

    internal static readonly DiagnosticDescriptor ReturnedTwice = Warning(
        "POOL001",
        "Returned twice",
        "'{0}' was returned before, on line {1}; a second return gives one buffer to two renters");

    internal static readonly DiagnosticDescriptor UsedAfterReturn = Warning(
        "POOL002",
        "Used after its return",
        "'{0}' was returned on line {1}; its contents may already belong to another renter");

    internal static readonly DiagnosticDescriptor LeaseNotEnded = Warning(
        "POOL003",
        "Lease neither disposed, returned nor handed on",
        "This rental is {0}");

    internal static readonly DiagnosticDescriptor ArrayNotReturned = Info(
        "POOL004",
        "Array never returned",
        "This rented {0} is {1}");

    internal static readonly DiagnosticDescriptor ReturnedInTryAndAfter = Warning(
        "POOL005",
        "Returned in try and again in catch or finally",
        "'{0}' is returned here again, after its return inside the try on line {1}");

    internal static readonly DiagnosticDescriptor ReturnedElsewhere = Warning(
        "POOL006",
        "Returned to another pool than rented from",
        "'{0}' was rented from '{1}' and is returned to '{2}'");

    internal static readonly DiagnosticDescriptor KeptInField = Warning(
        "POOL007",
        "Returned but kept in a field",
        "Field '{0}' still holds what was returned here; clear or replace the field");

    internal static readonly DiagnosticDescriptor WholeArrayUsed = Warning(
        "POOL008",
        "Whole rented array used where the requested length was meant",
        "'{0}' may be longer than requested; use its first elements only, as by AsSpan(0, length)");

    internal static readonly DiagnosticDescriptor HeldAcrossAwait = Warning(
        "POOL009",
        "Thread handle or scope held across await",
        "The code after 'await' may run on another thread, and '{0}' belongs to this one; dispose it before the await, or rent a lease");

    internal static readonly DiagnosticDescriptor SecretNotCleared = Warning(
        "POOL010",
        "Secret returned without clearing",
        "'{0}' is returned with its content from code that is marked [Secret]; pass clearArray: true");

    internal static readonly DiagnosticDescriptor TinyLength = Info(
        "POOL011",
        "Tiny constant length rented",
        "{0} byte(s) are cheaper on the stack: stackalloc needs no return");

    internal static readonly DiagnosticDescriptor LengthDoubles = Info(
        "POOL012",
        "Length doubles on the large object heap",
        "A request of {0} bytes gets an array of {1} bytes on the large object heap; a pool with closer size classes wastes less");

    internal static ImmutableArray<DiagnosticDescriptor> All { get; } =
    [
        ReturnedTwice, UsedAfterReturn, LeaseNotEnded, ArrayNotReturned, ReturnedInTryAndAfter, ReturnedElsewhere, KeptInField,
        WholeArrayUsed, HeldAcrossAwait, SecretNotCleared, TinyLength, LengthDoubles,
    ];

    private static DiagnosticDescriptor Warning(string id, string title, string message) =>
        new(id, title, message, Category, DiagnosticSeverity.Warning, true, helpLinkUri: Pages + id + ".md");

    private static DiagnosticDescriptor Info(string id, string title, string message) =>
        new(id, title, message, Category, DiagnosticSeverity.Info, true, helpLinkUri: Pages + id + ".md");
}
