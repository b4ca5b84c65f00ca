using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>A list in the order in which nodes came. They hold their neighbours themselves, so that adding allocates nothing.</summary>
/// <remarks>A part of its owner, which sees to it that one thread at a time changes it.</remarks>
/// <typeparam name="T">The node.</typeparam>
/// <typeparam name="TLinks">Finds the neighbours: a node may stand in one list of each kind.</typeparam>
internal struct IntrusiveList<T, TLinks>
    where T : class
    where TLinks : struct, ILinks<T>
{
    internal int Count { get; private set; }

    internal T? Newest { get; private set; }

    internal T? Oldest { get; private set; }

    /// <summary>Whether both neighbours of a node, or the ends of this list, lead to it.</summary>
    internal readonly bool Contains(T node)
    {
        Links<T> links = TLinks.Of(node);
        return (links.Older is { } older ? TLinks.Of(older).Newer : Oldest) == node
            && (links.Newer is { } newer ? TLinks.Of(newer).Older : Newest) == node;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Add(T node) => AddAfter(Newest, node);

    /// <summary>Puts a node behind another one, or before all where that is null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void AddAfter(T? older, T node)
    {
        T? newer = older is null ? Oldest : TLinks.Of(older).Newer;
        Join(older, node);
        Join(node, newer);
        Count++;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Remove(T node)
    {
        Debug.Assert(Contains(node), "a node is removed from the list that it stands in");
        ref Links<T> links = ref TLinks.Of(node);
        Join(links.Older, links.Newer);
        links = default;
        Count--;
    }

    /// <summary>Whether the links agree, and each node is one that belongs here.</summary>
    internal readonly bool IsValid(Func<T, bool> belongs)
    {
        int count = 0;
        for (T? node = Newest; node is not null; node = TLinks.Of(node).Older)
        {
            if (!belongs(node) || (TLinks.Of(node).Older is { } older ? TLinks.Of(older).Newer != node : node != Oldest))
            {
                return false;
            }

            count++;
        }

        return count == Count;
    }

    /// <summary>Lets two nodes follow each other; null is the end of the list.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Join(T? older, T? newer)
    {
        if (older is null)
        {
            Oldest = newer;
        }
        else
        {
            TLinks.Of(older).Newer = newer;
        }

        if (newer is null)
        {
            Newest = older;
        }
        else
        {
            TLinks.Of(newer).Older = older;
        }
    }
}

/// <summary>Where the nodes of one kind of list hold their neighbours.</summary>
internal interface ILinks<T>
    where T : class
{
    static abstract ref Links<T> Of(T node);
}

/// <summary>The neighbours of a node in a list.</summary>
internal struct Links<T>
    where T : class
{
    internal T? Newer;
    internal T? Older;
}
