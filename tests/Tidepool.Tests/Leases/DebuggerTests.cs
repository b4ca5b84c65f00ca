using System.Diagnostics;
using System.Reflection;
using System.Text.RegularExpressions;
using Tidepool.Data;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

/// <summary>What a debugger reads of leases and pools without being asked: nothing that throws.</summary>
public sealed partial class DebuggerTests : PoolTest
{
    private static readonly Type[] Leases =
    [
        typeof(BufferLease<byte>), typeof(ObjectLease<object>), typeof(ResourceLease<object>), typeof(KeyedResourceLease<int, object>),
        typeof(SharedLease<object>), typeof(StreamLease), typeof(DbConnectionLease),
    ];

    private static readonly Type[] Others =
    [
        typeof(BufferPool<byte>), typeof(ObjectPool<object>), typeof(SlabMemoryPool<byte>), typeof(ResourcePool<object>),
        typeof(KeyedResourcePool<int, object>), typeof(PooledDbDataSource),
    ];

    public static TheoryData<Type> AllLeases => [.. Leases];

    public static TheoryData<Type> All => [.. Leases, .. Others];

    [Theory]
    [MemberData(nameof(All))]
    public void A_watch_window_shows_a_type_by_properties_that_it_has(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        string[] names = NamesOf(type);
        Assert.NotEmpty(names);
        Assert.All(names, name => Assert.NotNull(type.GetProperty(name)));
    }

    [Theory]
    [MemberData(nameof(AllLeases))]
    public void A_lease_that_was_never_rented_is_shown_without_an_exception(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        ReadAll(Activator.CreateInstance(type)!);
    }

    [Fact]
    public async Task A_lease_that_has_ended_is_shown_without_an_exception_and_counts_no_misuse()
    {
        BufferPool<byte> buffers = NewPool<byte>();
        BufferLease<byte> buffer = buffers.Rent(100);
        using ObjectPool<object> objects = ObjectPool<object>.Create(static () => new());
        ObjectLease<object> item = objects.Rent();
        await using ResourcePool<object> resources = ResourcePool.Create(
            static _ => Task.FromResult(new object()), new ResourcePoolOptions { MaxSize = 1 });
        ResourceLease<object> resource = await resources.RentAsync();
        StreamLease stream = PooledMemoryStream.RentLease();
        object[] leases = [buffer, item, resource, stream];
        Assert.All(leases, ReadAll);
        buffer.Return();
        item.Return();
        resource.Dispose();
        stream.Dispose();
        Assert.All(leases, ReadAll);
        Assert.Equal(0, buffers.GetStatistics().Misuses + objects.GetStatistics().Misuses);
    }

    /// <summary>Reads what a debugger shows: the properties of the display, and all that are not hidden.</summary>
    private static void ReadAll(object lease)
    {
        Type type = lease.GetType();
        IEnumerable<PropertyInfo> shown = type.GetProperties().Where(property =>
            property.GetCustomAttribute<DebuggerBrowsableAttribute>()?.State != DebuggerBrowsableState.Never
            || NamesOf(type).Contains(property.Name));
        foreach (PropertyInfo property in shown)
        {
            property.GetValue(lease);
        }
    }

    private static string[] NamesOf(Type type) =>
        [.. Name().Matches(type.GetCustomAttribute<DebuggerDisplayAttribute>()!.Value).Select(static match => match.Groups[1].Value)];

    [GeneratedRegex(@"\{(\w+)(,nq)?\}")]
    private static partial Regex Name();
}
