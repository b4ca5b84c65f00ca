using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Tidepool;

/// <summary>What a pool says of itself when a rental fails, and the sentences it says it in.</summary>
internal sealed class PoolReport
{
    internal required string Name { get; init; }

    /// <summary>The key that it is about; empty in a pool without keys.</summary>
    internal required string Key { get; init; }

    internal required ResourcePoolStatistics Statistics { get; init; }

    internal TimeSpan? OldestLeaseAge { get; init; }

    internal Exception? LastCreateError { get; init; }

    /// <summary>For how long creations have failed, and in how long the next one may begin (null: one is under way), or null.</summary>
    internal (TimeSpan FailingFor, TimeSpan? NextIn)? Outage { get; init; }

    internal IReadOnlyList<string> Holders { get; init; } = [];

    /// <summary>The limit over all keys and how much of it is used, or null for a pool without keys.</summary>
    internal (int Used, int Max)? Group { get; init; }

    internal string DescribeTimeout(TimeSpan timeout)
    {
        ResourcePoolStatistics s = Statistics;
        var text = new StringBuilder(400);
        text.Append(CultureInfo.InvariantCulture, $"No resource of pool {Subject(Name, Key)} came free within {Text(timeout)}: ");
        AppendNumbers(text);
        bool isFull = s.Leased >= s.MaxSize;
        if (LastCreateError is { } error)
        {
            string message = Sentence(FailureText.MessageOf(error));
            text.Append(CultureInfo.InvariantCulture, $" The last creation failed with {error.GetType().Name}: {message}");
            AppendOutage(text);
        }
        else if (isFull)
        {
            text.Append(" All are leased: raise MaxSize, or hold leases for less time.");
            text.Append(" A caller that holds one lease while it rents another (a nested rental) may be waiting for itself.");
        }
        else if (Group is { } group && group.Used >= group.Max)
        {
            text.Append(CultureInfo.InvariantCulture, $" All keys together use {group.Used} of MaxTotal = {group.Max}.");
        }
        else if (s.Creating > 0)
        {
            text.Append(" Creations are slower than this timeout.");
        }

        AppendHolders(text);
        return text.ToString();
    }

    internal string DescribeRejection(string knob)
    {
        var text = new StringBuilder(300);
        text.Append(CultureInfo.InvariantCulture, $"Pool {Subject(Name, Key)} refused a rental at once, because {knob}: ");
        AppendNumbers(text);
        AppendHolders(text);
        return text.ToString();
    }

    internal string DescribeCreateFailure(Exception cause)
    {
        var text = new StringBuilder(200);
        text.Append(CultureInfo.InvariantCulture, $"Pool {Subject(Name, Key)} could not create a resource: ");
        text.Append(CultureInfo.InvariantCulture, $"{cause.GetType().Name}: {FailureText.MessageOf(cause)} (");
        AppendNumbers(text);
        text.Append(')');
        if (Outage is { FailingFor.Ticks: > 0 })
        {
            AppendOutage(text);
        }

        return text.ToString();
    }

    /// <summary>What is said of the first failed creation of a row.</summary>
    internal string DescribeBackoff(TimeSpan longest, bool isPermanent)
    {
        var text = new StringBuilder(300);
        text.Append(CultureInfo.InvariantCulture, $"Pool {Subject(Name, Key)} backs off after a failed creation: ");
        text.Append(Outage is { NextIn: { Ticks: > 0 } next } ? $"the next attempt is in {Text(next)}" : "the next rental tries again");
        text.Append(CultureInfo.InvariantCulture, $", and pauses grow up to BackoffMax = {Text(longest)} while creations fail. ");
        text.Append(isPermanent
            ? "The failure will last, so rentals that need a new resource are refused at once."
            : "Rentals that need a new resource wait for it.");
        return text.Append(" ClearAsync tries again at once.").ToString();
    }

    /// <summary>What is said of the first creation that succeeds after others have failed.</summary>
    internal static string DescribeRecovery(string name, string key, TimeSpan failedFor) =>
        $"Pool {Subject(name, key)} creates again, after {Text(failedFor)} of failures.";

    /// <summary>What is said of a pool that is cleared.</summary>
    internal static string DescribeClear(string name, string key, ResourcePoolStatistics before, bool isByError) =>
        $"Pool {Subject(name, key)} was cleared{(isByError ? ", because an error ended all of its resources" : string.Empty)}: "
        + $"{before.Idle} idle ones end now, {before.Leased + before.Checking} in use when they come back.";

    /// <summary>What is said of a lease that is out for longer than it should be.</summary>
    internal static string DescribeOverdue(string name, string key, long milliseconds, string site) =>
        $"A lease has been out for {Text(TimeSpan.FromMilliseconds(milliseconds))}, which is LeakThreshold or more, "
        + $"and may never come back. Dispose every lease (pool {Subject(name, key)})."
        + (site.Length == 0 ? string.Empty : $" Rented at:\n{site}");

    /// <summary>What is said of a lease that the garbage collector found.</summary>
    internal static string DescribeReclaimed(string name, string key, string? site) =>
        $"A lease was dropped without being returned; its resource was destroyed. Dispose every lease (pool {Subject(name, key)})."
        + (site is null ? string.Empty : $" Rented at:\n{site}");

    /// <summary>The pool in a message, with the key that it is about.</summary>
    internal static string Subject(string name, string key) => key.Length == 0 ? $"'{name}'" : $"'{name}' (key '{key}')";

    /// <summary>A message of foreign code with a full stop at its end, because more sentences follow.</summary>
    private static string Sentence(string message)
    {
        string trimmed = message.TrimEnd();
        return trimmed.Length == 0 || trimmed[^1] is '.' or '!' or '?' ? trimmed : trimmed + ".";
    }

    /// <summary>A time as a reader says it.</summary>
    private static string Text(TimeSpan time) => time.TotalSeconds < 1
        ? string.Create(CultureInfo.InvariantCulture, $"{time.TotalMilliseconds:0} ms")
        : string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.###} s");

    private void AppendNumbers(StringBuilder text)
    {
        ResourcePoolStatistics s = Statistics;
        text.Append(CultureInfo.InvariantCulture, $"{s.Leased} leased of MaxSize = {s.MaxSize}, {s.Idle} idle, {s.Creating} in creation, ");
        text.Append(CultureInfo.InvariantCulture, $"{s.Checking} being checked, {s.Destroying} being destroyed, {s.Waiting} waiting.");
        if (OldestLeaseAge is { } age)
        {
            text.Append(CultureInfo.InvariantCulture, $" The oldest lease is {Text(age)} old.");
        }
    }

    private void AppendOutage(StringBuilder text)
    {
        if (Outage is { } outage)
        {
            text.Append(CultureInfo.InvariantCulture, $" Creations have failed for {Text(outage.FailingFor)}; ");
            text.Append(
                outage.NextIn is not { } next ? "an attempt is under way."
                : next == TimeSpan.Zero ? "the next rental tries again."
                : $"the next attempt is in {Text(next)}.");
        }
    }

    private void AppendHolders(StringBuilder text)
    {
        for (int i = 0; i < Holders.Count; i++)
        {
            text.Append(i == 0 ? " The oldest leases were rented:\n" : "\n").Append(Holders[i]);
        }
    }
}

/// <summary>Where a rental was made, as text: the frames of the program, without those of the thread pool at the end.</summary>
internal static class RentSite
{
    /// <summary>
    /// Between the program and the pool: the pools, the base classes of ADO.NET, what starts asynchronous methods, and Entity Framework
    /// Core, which opens a connection for what the program asked of a context.
    /// </summary>
    private static readonly string[] Between =
    [
        "Tidepool", "Tidepool.Extensions", "Tidepool.Native", "System.Data.Common", "System.Private.CoreLib",
        "Tidepool.EntityFrameworkCore", "Microsoft.EntityFrameworkCore", "Microsoft.EntityFrameworkCore.Relational",
        "Microsoft.EntityFrameworkCore.Sqlite", "Npgsql.EntityFrameworkCore.PostgreSQL", "System.Linq", "System.Linq.Queryable",
    ];

    internal static StackTrace Capture() => new(skipFrames: 1, fNeedFileInfo: true);

    internal static string Describe(StackTrace site, LeakCapture capture)
    {
        StackFrame[] frames = site.GetFrames();
        int first = Math.Max(Array.FindIndex(frames, static frame => !CallerStack.IsOf(frame, Between)), 0);
        int last = Math.Max(Array.FindLastIndex(frames, static frame => !CallerStack.IsThreading(frame)), first);
        string text = new StackTrace(frames[first..(last + 1)]).ToString().ReplaceLineEndings("\n").TrimEnd('\n');
        return text.Length == 0 ? "   at an unknown place" : capture == LeakCapture.CallSite ? text.Split('\n')[0] : text;
    }
}
