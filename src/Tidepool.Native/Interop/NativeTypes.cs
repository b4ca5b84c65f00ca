using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

#pragma warning disable IDE1006 // The names of tidepool.h; a test compares fields, order and values with the header.
#pragma warning disable CS0649 // The library fills them in.

/// <summary>An opaque heap.</summary>
internal struct tp_heap;

/// <summary>An opaque pool.</summary>
internal struct tp_pool;

internal unsafe struct tp_heap_options
{
    internal nuint struct_size;
    internal byte* name;
    internal nuint limit;
    internal byte zero_on_free;
}

internal unsafe struct tp_pool_options
{
    internal nuint struct_size;
    internal byte* name;
    internal nuint block_size;
    internal nuint alignment;
    internal nuint limit;
    internal byte zero_on_free;
}

internal struct tp_statistics
{
    internal nuint struct_size;
    internal nuint live_bytes;
    internal nuint cached_bytes;
    internal nuint retained_bytes;
    internal nuint committed_bytes;
    internal nuint peak_committed_bytes;
    internal nuint reserved_bytes;
    internal nuint metadata_bytes;
    internal nuint purged_bytes;
    internal nuint os_calls;
    internal nuint threads;
    internal nuint orphans;
    internal nuint heaps;
    internal nuint pools;
    internal nuint remote_frees;
}

internal struct tp_class_statistics
{
    internal nuint struct_size;
    internal nuint block_size;
    internal nuint live_blocks;
    internal nuint cached_blocks;
    internal nuint pages;
    internal nuint refills;
}

internal enum tp_option
{
    memory_limit = 0,
    purge_delay_ms = 1,
    background_purge = 2,
    huge_pages = 3,
    zero_on_free = 4,
    profile = 5,
    sample_bytes = 6,
    guard_rate = 7,
    leak_check = 8,
    count,
}

[SuppressMessage("Design", "CA1008:Enums should have zero value", Justification = "The header has none.")]
internal enum tp_misuse
{
    double_free = 1,
    foreign_pointer = 2,
    interior_pointer = 3,
    size_mismatch = 4,
    heap_mismatch = 5,
    write_after_free = 6,
    overflow = 7,
    destroyed_heap = 8,
    leak = 9,
}
