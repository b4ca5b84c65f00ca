using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// <c>tidepool.h</c>, function by function in its order and under its names; what each does is said there. A test compares every
/// declaration with the header.
/// </summary>
/// <remarks>
/// Only the tp_try_ functions go without the runtime's transition: they never take a lock, never call the operating system and never wait,
/// so the garbage collector never waits for them. All others may.
/// </remarks>
[SuppressMessage("Style", "IDE1006:Naming Styles", Justification = "The names of the C header.")]
internal static unsafe partial class NativeMethods
{
    /// <summary>What the resolver is asked for.</summary>
    internal const string Library = "tidepool";

    /// <summary>The version of the header that this file mirrors, as tp_version gives it.</summary>
    internal const int HeaderVersion = 100;

    [LibraryImport(Library)]
    internal static partial int tp_version();

    [LibraryImport(Library)]
    [return: MarshalAs(UnmanagedType.U1)]
    internal static partial bool tp_is_checked();

    [LibraryImport(Library)]
    internal static partial void* tp_malloc(nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_zalloc(nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_calloc(nuint count, nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_aligned_alloc(nuint alignment, nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_aligned_zalloc(nuint alignment, nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_realloc(void* block, nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_reallocarray(void* block, nuint count, nuint size);

    [LibraryImport(Library)]
    internal static partial void tp_free(void* block);

    [LibraryImport(Library)]
    internal static partial void tp_free_sized(void* block, nuint size);

    [LibraryImport(Library)]
    internal static partial void tp_free_aligned_sized(void* block, nuint alignment, nuint size);

    [LibraryImport(Library)]
    internal static partial nuint tp_usable_size(void* block);

    [LibraryImport(Library)]
    [return: MarshalAs(UnmanagedType.U1)]
    internal static partial bool tp_owns(void* address);

    [LibraryImport(Library)]
    internal static partial nuint tp_malloc_batch(nuint size, nuint count, void** blocks);

    [LibraryImport(Library)]
    internal static partial nuint tp_aligned_alloc_batch(nuint alignment, nuint size, nuint count, void** blocks);

    [LibraryImport(Library)]
    internal static partial void tp_free_batch(void** blocks, nuint count);

    [LibraryImport(Library)]
    [SuppressGCTransition]
    internal static partial void* tp_try_malloc(nuint size);

    [LibraryImport(Library)]
    [SuppressGCTransition]
    [return: MarshalAs(UnmanagedType.U1)]
    internal static partial bool tp_try_free(void* block);

    [LibraryImport(Library)]
    internal static partial nuint tp_good_size(nuint size);

    [LibraryImport(Library)]
    internal static partial nuint tp_class_count();

    [LibraryImport(Library)]
    internal static partial nuint tp_class_size(nuint index);

    [LibraryImport(Library)]
    internal static partial nuint tp_class_index(nuint size);

    [LibraryImport(Library)]
    internal static partial tp_heap* tp_heap_create(tp_heap_options* options);

    [LibraryImport(Library)]
    internal static partial void* tp_heap_malloc(tp_heap* heap, nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_heap_zalloc(tp_heap* heap, nuint size);

    [LibraryImport(Library)]
    internal static partial void* tp_heap_aligned_alloc(tp_heap* heap, nuint alignment, nuint size);

    [LibraryImport(Library)]
    internal static partial void tp_heap_free(tp_heap* heap, void* block);

    [LibraryImport(Library)]
    internal static partial void tp_heap_free_aligned_sized(tp_heap* heap, void* block, nuint alignment, nuint size);

    [LibraryImport(Library)]
    internal static partial void tp_heap_usage(tp_heap* heap, nuint* live_bytes, nuint* held_bytes);

    [LibraryImport(Library)]
    internal static partial void tp_heap_destroy(tp_heap* heap);

    [LibraryImport(Library)]
    internal static partial tp_pool* tp_pool_create(tp_pool_options* options);

    [LibraryImport(Library)]
    internal static partial void* tp_pool_rent(tp_pool* pool);

    [LibraryImport(Library)]
    internal static partial void tp_pool_return(tp_pool* pool, void* block);

    [LibraryImport(Library)]
    internal static partial nuint tp_pool_rent_batch(tp_pool* pool, nuint count, void** blocks);

    [LibraryImport(Library)]
    internal static partial void tp_pool_return_batch(tp_pool* pool, void** blocks, nuint count);

    [LibraryImport(Library)]
    internal static partial nuint tp_pool_block_size(tp_pool* pool);

    [LibraryImport(Library)]
    internal static partial void tp_pool_usage(tp_pool* pool, nuint* live_bytes, nuint* held_bytes);

    [LibraryImport(Library)]
    internal static partial void tp_pool_destroy(tp_pool* pool);

    [LibraryImport(Library)]
    internal static partial nuint tp_purge(uint min_idle_ms);

    [LibraryImport(Library)]
    internal static partial void tp_thread_idle();

    [LibraryImport(Library)]
    internal static partial void tp_get_statistics(tp_statistics* statistics);

    [LibraryImport(Library)]
    [return: MarshalAs(UnmanagedType.U1)]
    internal static partial bool tp_get_class_statistics(nuint index, tp_class_statistics* statistics);

    [LibraryImport(Library)]
    internal static partial void tp_print_statistics(int file_descriptor);

    [LibraryImport(Library)]
    [return: MarshalAs(UnmanagedType.U1)]
    internal static partial bool tp_write_size_profile(byte* path);

    [LibraryImport(Library)]
    [return: MarshalAs(UnmanagedType.U1)]
    internal static partial bool tp_write_heap_profile(byte* path);

    [LibraryImport(Library)]
    internal static partial int tp_set_option(tp_option option, long value);

    [LibraryImport(Library)]
    internal static partial long tp_get_option(tp_option option);

    [LibraryImport(Library)]
    internal static partial delegate* unmanaged[Cdecl]<tp_misuse, void*, nuint, byte*, void> tp_set_misuse_handler(
        delegate* unmanaged[Cdecl]<tp_misuse, void*, nuint, byte*, void> handler);

    [LibraryImport(Library)]
    internal static partial nuint tp_report_leaks();

    [LibraryImport(Library)]
    [return: MarshalAs(UnmanagedType.U1)]
    internal static partial bool tp_is_valid();
}
