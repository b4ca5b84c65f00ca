namespace Tidepool;

/// <summary>What one thread has in the thread tier: its magazines, by bucket id.</summary>
/// <remarks>
/// Only the owning thread puts magazines in; anyone may take one out. Both happen under <see cref="ThreadTier.Gate"/>; the owner's reads
/// need no lock, because a place that changes under it shows a closed magazine or <see cref="Magazine.None"/>, which are alike to it.
/// </remarks>
internal sealed class Shard
{
    internal readonly StackIdentity Owner;
    internal Magazine[] Table = [];

    /// <summary>Thread handles that were not disposed.</summary>
    internal int Handles;

    /// <summary>Whether the thread's magazines were closed because it has ended. Under the gate.</summary>
    internal bool IsReaped { get; set; }

    private readonly Thread? _thread;

    internal Shard(Thread? thread, StackIdentity owner)
    {
        _thread = thread;
        Owner = owner;
    }

    /// <summary>The shard of no thread: stands in unused places of <see cref="ThreadTier"/>'s directory.</summary>
    internal static Shard None { get; } = new(null, StackIdentity.None);

    /// <summary>Whether the thread can still use what is here: it has not ended, and its identity was not withdrawn.</summary>
    internal bool IsAlive => _thread is { IsAlive: true } && !(Owner.IsKnown && Owner.HasEnded);

    /// <summary>The live magazine of <paramref name="bucket"/>, or null.</summary>
    internal Magazine? Find(Bucket bucket)
    {
        Magazine[] table = Table;
        return (uint)bucket.Id < (uint)table.Length && table[bucket.Id].Bucket == bucket ? table[bucket.Id] : null;
    }

    /// <summary>Puts a magazine in its place. Under the gate.</summary>
    internal void Set(int id, Magazine magazine)
    {
        if (id >= Table.Length)
        {
            var longer = new Magazine[Math.Max(id + 1, Math.Max(16, Table.Length * 2))];
            Array.Fill(longer, Magazine.None);
            Table.CopyTo(longer, 0);
            Table = longer;
        }

        Table[id] = magazine;
    }
}
