/* Tidepool: rent, use, return. The C interface, and the only contract of the native library.
 *
 * Units are bytes unless a name says blocks or milliseconds. Every function may be called from any thread at any
 * time unless its comment says otherwise; none throws. Functions that allocate return NULL and set errno to ENOMEM
 * when memory or a limit is used up, and to EINVAL when an argument is out of range; state is then unchanged.
 *
 * Cost words used below:
 *   fast   some 15 instructions, no atomic operation, no lock, no call of the operating system
 *   slow   takes the calling thread's own heap lock (uncontended but for the background purge), may map memory
 *
 * Misuse. The release library notices a pointer that is outside of its memory, one that is not aligned to 16 bytes,
 * one that is inside of a block when the block is given back to its page, and a block that is freed twice in a row.
 * The checked library (libtidepool-checked) notices all of: double free, foreign and interior pointers, a wrong size
 * in a sized free, a wrong heap, writes after free, writes past the end, use of a destroyed heap or pool, leaks at
 * exit. Either calls the misuse handler, which by default writes one line to standard error and aborts.
 *
 * Signals. No function may be called from a signal handler, as for malloc: a handler that interrupts the fast path
 * would find a half-popped list. fork() from a threaded program is safe: the child may use everything at once.
 */
#ifndef TIDEPOOL_TIDEPOOL_H
#define TIDEPOOL_TIDEPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIDEPOOL_VERSION_MAJOR 0
#define TIDEPOOL_VERSION_MINOR 1
#define TIDEPOOL_VERSION_PATCH 0

#if defined(_WIN32)
#define TP_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define TP_EXPORT __attribute__((visibility("default")))
#else
#define TP_EXPORT
#endif

#if defined(__GNUC__)
#define TP_ALLOCATES(...) __attribute__((malloc, alloc_size(__VA_ARGS__), warn_unused_result))
#define TP_USE_RESULT __attribute__((warn_unused_result))
#else
#define TP_ALLOCATES(...)
#define TP_USE_RESULT
#endif

#ifdef __cplusplus
#define TP_NOTHROW noexcept
extern "C" {
#else
#define TP_NOTHROW
#endif

/* The library's version as 10000 * major + 100 * minor + patch. */
TP_EXPORT int tp_version(void) TP_NOTHROW;

/* True in the checked library. */
TP_EXPORT bool tp_is_checked(void) TP_NOTHROW;

/* ---- Blocks ------------------------------------------------------------------------------------------------- */

/* A block of at least size bytes, aligned to 16; to the largest power of two that divides the size class otherwise (in
 * the checked library up to 4 KiB).
 * Size 0 gives a block of its own that must be freed. Contents are undefined. Fails with ENOMEM above PTRDIFF_MAX.
 * Cost: fast up to 32 KiB when this thread has a block of the class at hand, else slow. */
TP_EXPORT void* tp_malloc(size_t size) TP_NOTHROW TP_ALLOCATES(1);

/* As tp_malloc, with every byte zero. Blocks above 64 KiB that are known to be zero are not written. */
TP_EXPORT void* tp_zalloc(size_t size) TP_NOTHROW TP_ALLOCATES(1);

/* As tp_zalloc(count * size); ENOMEM when the product overflows. */
TP_EXPORT void* tp_calloc(size_t count, size_t size) TP_NOTHROW TP_ALLOCATES(1, 2);

/* A block aligned to alignment, which must be a power of two of at most 1 GiB (EINVAL otherwise); size need not be a
 * multiple of it. Up to 64 KiB the alignment costs rounding up to a size class, above it costs address space only. */
TP_EXPORT void* tp_aligned_alloc(size_t alignment, size_t size) TP_NOTHROW TP_ALLOCATES(2);

/* As tp_aligned_alloc, with every byte zero. */
TP_EXPORT void* tp_aligned_zalloc(size_t alignment, size_t size) TP_NOTHROW TP_ALLOCATES(2);

/* Changes the size of a block, keeping its contents up to the smaller of both sizes. NULL allocates; size 0 gives a
 * block of its own (it does not free). On failure the old block is unchanged. In place while the size class stays or
 * a large block finds room behind it; from 1 MiB on pages are moved, not copied, where the system can. The alignment
 * of tp_aligned_alloc is not kept. */
TP_EXPORT void* tp_realloc(void* block, size_t size) TP_NOTHROW TP_USE_RESULT;

/* As tp_realloc(block, count * size); ENOMEM when the product overflows, and the block is unchanged. */
TP_EXPORT void* tp_reallocarray(void* block, size_t count, size_t size) TP_NOTHROW TP_USE_RESULT;

/* Gives a block back. NULL does nothing. Any thread may free a block of any other; blocks of heaps and pools too.
 * Cost: fast up to 32 KiB, whichever thread allocated the block. errno is kept. */
TP_EXPORT void tp_free(void* block) TP_NOTHROW;

/* As tp_free; size must be the one that was asked for, or tp_usable_size. The checked library verifies it. */
TP_EXPORT void tp_free_sized(void* block, size_t size) TP_NOTHROW;

/* As tp_free_sized, for blocks of tp_aligned_alloc; for others the alignment is at most 16. The checked library verifies both. */
TP_EXPORT void tp_free_aligned_sized(void* block, size_t alignment, size_t size) TP_NOTHROW;

/* The bytes that may be used, at least what was asked for; 0 for NULL. In the checked library exactly what was asked
 * for. A pointer that is not a live block is misuse. */
TP_EXPORT size_t tp_usable_size(const void* block) TP_NOTHROW;

/* True when the address lies in memory that this library manages. Never misuse. */
TP_EXPORT bool tp_owns(const void* address) TP_NOTHROW;

/* Fills blocks[0..count) with blocks of at least size bytes and returns how many it could: count, unless memory ran
 * out. One pass over the heap instead of count calls. */
TP_EXPORT size_t tp_malloc_batch(size_t size, size_t count, void** blocks) TP_NOTHROW TP_USE_RESULT;

/* As tp_malloc_batch for aligned blocks; 0 and EINVAL when the alignment is not allowed. */
TP_EXPORT size_t tp_aligned_alloc_batch(size_t alignment, size_t size, size_t count, void** blocks) TP_NOTHROW TP_USE_RESULT;

/* Frees count blocks of any sizes, NULLs included. */
TP_EXPORT void tp_free_batch(void* const* blocks, size_t count) TP_NOTHROW;

/* tp_malloc and tp_free that never take a lock and never call the operating system, for callers that may not block
 * (a managed runtime's calls without a transition). tp_try_malloc returns NULL, and tp_try_free false with the block
 * still live, when the slow path would be needed; call the ordinary function then. They touch only memory that this
 * thread touched before. errno is kept. */
TP_EXPORT void* tp_try_malloc(size_t size) TP_NOTHROW TP_USE_RESULT;
TP_EXPORT bool tp_try_free(void* block) TP_NOTHROW TP_USE_RESULT;

/* ---- Size classes ------------------------------------------------------------------------------------------- */

/* What tp_malloc(size) would really take: the class's block size up to 32 KiB, whole pages of 64 KiB above.
 * 0 when size is above PTRDIFF_MAX. */
TP_EXPORT size_t tp_good_size(size_t size) TP_NOTHROW;

/* How many classes there are, and the block size of each: index 0 is the smallest; 0 for an index out of range. */
TP_EXPORT size_t tp_class_count(void) TP_NOTHROW;
TP_EXPORT size_t tp_class_size(size_t index) TP_NOTHROW;

/* The class that serves size; tp_class_count() when no class does and whole pages are taken. */
TP_EXPORT size_t tp_class_index(size_t size) TP_NOTHROW;

/* ---- Heaps: blocks with a common end -------------------------------------------------------------------------- */

typedef struct tp_heap tp_heap;

typedef struct tp_heap_options {
  size_t struct_size;  /* sizeof(tp_heap_options): later versions add fields at the end */
  const char* name;    /* shown in statistics and misuse messages; up to 31 bytes are copied; may be NULL */
  size_t limit;        /* bytes of pages this heap may hold; 0: only the process's limit */
  bool zero_on_free;   /* every block is zeroed when it is freed and when the heap is destroyed: for secrets */
} tp_heap_options;

/* A heap whose blocks any thread may allocate and free. options may be NULL. NULL and ENOMEM, or EINVAL when
 * struct_size is not one that this version knows. Cost: slow. Each call takes the heap's lock. */
TP_EXPORT tp_heap* tp_heap_create(const tp_heap_options* options) TP_NOTHROW TP_USE_RESULT;

TP_EXPORT void* tp_heap_malloc(tp_heap* heap, size_t size) TP_NOTHROW TP_ALLOCATES(2);
TP_EXPORT void* tp_heap_zalloc(tp_heap* heap, size_t size) TP_NOTHROW TP_ALLOCATES(2);
TP_EXPORT void* tp_heap_aligned_alloc(tp_heap* heap, size_t alignment, size_t size) TP_NOTHROW TP_ALLOCATES(3);

/* As tp_free; the block must be of this heap, which both libraries verify. */
TP_EXPORT void tp_heap_free(tp_heap* heap, void* block) TP_NOTHROW;

/* As tp_heap_free; alignment and size must be those that were asked for, an alignment of at most 16 where none was. The
 * checked library verifies them. */
TP_EXPORT void tp_heap_free_aligned_sized(tp_heap* heap, void* block, size_t alignment, size_t size) TP_NOTHROW;

/* Bytes of live blocks and of pages held. Either pointer may be NULL. */
TP_EXPORT void tp_heap_usage(tp_heap* heap, size_t* live_bytes, size_t* held_bytes) TP_NOTHROW;

/* Frees every block and the heap itself, at once: the cost is that of its pages, not of its blocks. No other thread
 * may use the heap or its blocks during or after the call. NULL does nothing. */
TP_EXPORT void tp_heap_destroy(tp_heap* heap) TP_NOTHROW;

/* ---- Pools: blocks of one size ---------------------------------------------------------------------------------- */

typedef struct tp_pool tp_pool;

typedef struct tp_pool_options {
  size_t struct_size; /* sizeof(tp_pool_options) */
  const char* name;   /* as in tp_heap_options */
  size_t block_size;  /* 1 .. 1 MiB; rounded up to a multiple of the alignment, to no size class */
  size_t alignment;   /* power of two up to 64 KiB; 0: 16 */
  size_t limit;       /* bytes of pages this pool may hold; 0: only the process's limit */
  bool zero_on_free;
} tp_pool_options;

/* A pool. NULL with EINVAL for options out of range, with ENOMEM when memory is used up. The first 64 pools of a
 * process that are alive at one time, of blocks up to 8 KiB and without zero_on_free, rent from thread caches (fast);
 * others take a lock. */
TP_EXPORT tp_pool* tp_pool_create(const tp_pool_options* options) TP_NOTHROW TP_USE_RESULT;

/* A block of tp_pool_block_size bytes with undefined contents. NULL and ENOMEM when memory or the limit is used up. */
TP_EXPORT void* tp_pool_rent(tp_pool* pool) TP_NOTHROW TP_USE_RESULT;

/* Gives a block back; any thread may. NULL does nothing. The block must be of this pool (checked library: verified). */
TP_EXPORT void tp_pool_return(tp_pool* pool, void* block) TP_NOTHROW;

/* As tp_malloc_batch and tp_free_batch. */
TP_EXPORT size_t tp_pool_rent_batch(tp_pool* pool, size_t count, void** blocks) TP_NOTHROW TP_USE_RESULT;
TP_EXPORT void tp_pool_return_batch(tp_pool* pool, void* const* blocks, size_t count) TP_NOTHROW;

TP_EXPORT size_t tp_pool_block_size(const tp_pool* pool) TP_NOTHROW;
TP_EXPORT void tp_pool_usage(tp_pool* pool, size_t* live_bytes, size_t* held_bytes) TP_NOTHROW;

/* Frees every block and the pool. No other thread may use the pool or its blocks during or after the call. */
TP_EXPORT void tp_pool_destroy(tp_pool* pool) TP_NOTHROW;

/* ---- Idle memory ------------------------------------------------------------------------------------------------ */

/* Gives idle pages back to the system: those idle for at least min_idle_ms milliseconds, of every heap whose lock is
 * free, of exited threads and of the arenas; 0 for all. Returns the bytes given back. Blocks in the caches of other
 * running threads stay. */
TP_EXPORT size_t tp_purge(uint32_t min_idle_ms) TP_NOTHROW;

/* Tells that this thread will be idle: its cached blocks go back to their pages, where a purge can reach them. Its
 * next call is slow once. */
TP_EXPORT void tp_thread_idle(void) TP_NOTHROW;

/* ---- Statistics ------------------------------------------------------------------------------------------------- */

typedef struct tp_statistics {
  size_t struct_size;     /* set to sizeof(tp_statistics) before the call */
  size_t live_bytes;      /* blocks in use, by their usable size */
  size_t cached_bytes;    /* free blocks in thread caches and in pages that are partly used */
  size_t retained_bytes;  /* whole free pages that are still backed by memory */
  size_t committed_bytes; /* live + cached + retained + never carved parts of pages: at most this much is resident */
  size_t peak_committed_bytes;
  size_t reserved_bytes;  /* mapped address space, with tables; costs no memory by itself */
  size_t metadata_bytes;  /* the library's own tables, resident */
  size_t purged_bytes;    /* given back to the system, ever */
  size_t os_calls;        /* mmap, munmap, mprotect, madvise, mremap so far */
  size_t threads;         /* thread heaps in use */
  size_t orphans;         /* heaps of exited threads that wait for a new thread */
  size_t heaps;           /* explicit heaps alive */
  size_t pools;           /* pools alive */
  size_t remote_frees;    /* blocks that went back to another thread's pages */
} tp_statistics;

/* Fills in what statistics->struct_size has room for. Exact when no other thread allocates, else a close estimate.
 * Takes every heap's lock in turn. */
TP_EXPORT void tp_get_statistics(tp_statistics* statistics) TP_NOTHROW;

typedef struct tp_class_statistics {
  size_t struct_size;
  size_t block_size;
  size_t live_blocks;
  size_t cached_blocks;
  size_t pages;
  size_t refills;        /* how often a thread cache of this class ran empty */
} tp_class_statistics;

/* Of one size class; false when index is out of range or struct_size is not known. */
TP_EXPORT bool tp_get_class_statistics(size_t index, tp_class_statistics* statistics) TP_NOTHROW;

/* Writes the statistics as text to a file descriptor. Allocates nothing. */
TP_EXPORT void tp_print_statistics(int file_descriptor) TP_NOTHROW;

/* ---- Profile ---------------------------------------------------------------------------------------------------- */

/* Requested sizes are counted whenever a thread cache is refilled; with the option profile every request is counted
 * (and slow). The file is text: one line "size count" for each multiple of 16 up to 32 KiB that was asked for; it is
 * the input of tidepool-tune. False and errno when the file cannot be written. */
TP_EXPORT bool tp_write_size_profile(const char* path) TP_NOTHROW;

/* Live allocations by call stack, sampled about every sample_bytes (option) of allocation, in the text format that
 * pprof reads (heap_v2). False and ENOTSUP when sampling was not switched on before the first use. */
TP_EXPORT bool tp_write_heap_profile(const char* path) TP_NOTHROW;

/* ---- Options ---------------------------------------------------------------------------------------------------- */

typedef enum tp_option {
  tp_option_memory_limit = 0,      /* bytes of committed memory for the process; 0: no limit (default) */
  tp_option_purge_delay_ms = 1,    /* idle pages go back after this long; default 1000; -1: only by tp_purge. A heap that
                                    * needs them again soon afterwards waits up to 30 s the next times */
  tp_option_background_purge = 2,  /* 1 (default): a thread purges while the program is idle; 0: only calls do */
  tp_option_huge_pages = 3,        /* 0: never, 1 (default): once 64 MiB are in use, for what is filled from end to end, 2: always */
  tp_option_zero_on_free = 4,      /* 1: every freed block is zeroed (frees are slow); default 0 */
  tp_option_profile = 5,           /* 1: count every request by size (allocations are slow); default 0 */
  tp_option_sample_bytes = 6,      /* mean bytes between heap profile samples; 0 (default): no samples */
  tp_option_guard_rate = 7,        /* checked library: 1 block in N ends at a page that cannot be accessed; default 0 */
  tp_option_leak_check = 8,        /* checked library: report live blocks at exit; default 1 */
  tp_option_count
} tp_option;

/* Sets an option. Before the first allocation every option can be set; afterwards only memory_limit, purge_delay_ms
 * and background_purge, the others fail with EBUSY. EINVAL for values out of range. 0 on success, else the error
 * number. The environment (TIDEPOOL_MEMORY_LIMIT=512M and so on, the names above in capitals) is read at the first
 * use and gives way to what the program set. */
TP_EXPORT int tp_set_option(tp_option option, int64_t value) TP_NOTHROW;
TP_EXPORT int64_t tp_get_option(tp_option option) TP_NOTHROW;

/* ---- Misuse ------------------------------------------------------------------------------------------------------ */

typedef enum tp_misuse {
  tp_misuse_double_free = 1,
  tp_misuse_foreign_pointer = 2,
  tp_misuse_interior_pointer = 3,
  tp_misuse_size_mismatch = 4,
  tp_misuse_heap_mismatch = 5,
  tp_misuse_write_after_free = 6,
  tp_misuse_overflow = 7,
  tp_misuse_destroyed_heap = 8,
  tp_misuse_leak = 9
} tp_misuse;

/* What happened, the address, the block's size as far as it is known (else 0), and one line of text. */
typedef void (*tp_misuse_handler)(tp_misuse kind, const void* address, size_t size, const char* message);

/* Replaces the handler; NULL restores the default. Returns the old one. When a handler returns, the call that found
 * the misuse does nothing more and the block is not touched. The handler may not allocate. */
TP_EXPORT tp_misuse_handler tp_set_misuse_handler(tp_misuse_handler handler) TP_NOTHROW;

/* Checked library: reports the blocks that are live now, by allocating call stack, and returns their number. The
 * release library returns 0. */
TP_EXPORT size_t tp_report_leaks(void) TP_NOTHROW;

/* Verifies the invariants of every heap and page whose lock can be had, and of the arenas; for tests. False when one
 * is broken, with a line on standard error that names it. */
TP_EXPORT bool tp_is_valid(void) TP_NOTHROW;

#ifdef __cplusplus
}
#endif
#endif
