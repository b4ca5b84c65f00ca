using System.Reflection;
using System.Text;
using Microsoft.Extensions.ObjectPool;
using Tidepool;
using Microsofts = Microsoft.Extensions.ObjectPool;
using Tidepools = Tidepool;

namespace Users; // outside our namespace, where our names do not come first

/// <summary>A file that imports both libraries, as that of a user does, and what docs/objects.md says of it.</summary>
public sealed class BothObjectPoolsTests
{
    [Fact]
    public void A_file_that_imports_both_uses_both()
    {
        Microsofts.ObjectPool<StringBuilder> theirs = new DefaultObjectPoolProvider().CreateStringBuilderPool();
        using Tidepools.ObjectPool<StringBuilder> ours = new StringBuilderPooledObjectPolicy().ToTidepoolPool();
        using (ObjectLease<StringBuilder> lease = ours.Rent())
        {
            lease.Value.Append("ours");
        }

        StringBuilder item = theirs.Get();
        theirs.Return(item);
        using MicrosoftObjectPool<StringBuilder> both = ours.AsMicrosoftPool();
        both.Return(both.Get());
        Assert.Equal((2L, 0L), (ours.GetStatistics().Rented, ours.GetStatistics().Leased));
        Assert.True(new Item().TryReset());
    }

    /// <summary>A name that joins them breaks the files of users that import both, so the page has to say it.</summary>
    [Fact]
    public void Two_names_are_those_of_both()
    {
        IEnumerable<string> shared = NamesOf(typeof(Tidepools.ObjectPool<>).Assembly, typeof(MicrosoftObjectPool<>).Assembly)
            .Intersect(NamesOf(typeof(Microsofts.ObjectPool<>).Assembly));
        Assert.Equal(["IResettable", "ObjectPool`1"], shared.Order(StringComparer.Ordinal));
    }

    private static IEnumerable<string> NamesOf(params Assembly[] assemblies) => assemblies
        .SelectMany(static assembly => assembly.GetExportedTypes())
        .Where(static type => type.Namespace is "Tidepool" or "Microsoft.Extensions.ObjectPool" && !type.IsNested)
        .Select(static type => type.Name);

    /// <summary>One that both can reset.</summary>
    private sealed class Item : Tidepools.IResettable, Microsofts.IResettable
    {
        public bool TryReset() => true;
    }
}
