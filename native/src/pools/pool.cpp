#include "pools/pool.h"

#include <errno.h>
#include <string.h>

#include "heap/magazines.h"
#include "heap/pool_bins.h"
#include "heap/purge.h"
#include "heap/purge_thread.h"
#include "heap/refill.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"
#include "heap/unchecked.h"
#include "pages/runs.h"
#include "pages/stamp.h"

namespace tp {

namespace {

constexpr size_t largest_block = size_t{1} << 20;
constexpr size_t largest_cached_block = 8192;

tp_pool* free_structures;  // pools_lock
size_t pools_alive;        // pools_lock

tp_pool* take_structure() {
  tp_pool* pool = free_structures;
  if (pool == nullptr) return static_cast<tp_pool*>(allocate_or_purge([] { return allocate_meta(sizeof(tp_pool)); }));
  free_structures = pool->next;
  *pool = {};
  return pool;
}

void give_structure(tp_pool* pool) {
  *pool = {};
  pool->next = free_structures;
  free_structures = pool;
}

uint32_t block_size_of(const tp_pool_options& options) {
  size_t alignment = options.alignment < min_alignment ? min_alignment : options.alignment;
  return static_cast<uint32_t>(round_up(options.block_size, alignment));
}

}  // namespace

int verify_pool_options(const tp_pool_options* options) {
  if (options == nullptr || options->struct_size != sizeof(tp_pool_options)) return EINVAL;
  if (options->block_size == 0 || options->block_size > largest_block) return EINVAL;
  if (options->alignment != 0 && (!is_power_of_two(options->alignment) || options->alignment > slice_size)) return EINVAL;
  return 0;
}

tp_pool* create_pool(const tp_pool_options& options) {
  if (current_heap() == nullptr) return nullptr;
  Locked locked(pools_lock);
  tp_pool* pool = take_structure();
  if (pool == nullptr) return nullptr;
  uint32_t size = block_size_of(options);
  pool->block_size = size;
  pool->shape = shape_for(size);
  bool cached = size <= largest_cached_block && !options.zero_on_free && !is_instrumented();
  if (cached) pool->bin = static_cast<uint32_t>(take_pool_bin(pool->shape, options.limit));
  if (pool->bin == 0) {
    pool->heap = create_heap(HeapState::pool);
    if (pool->heap == nullptr) {
      give_structure(pool);
      return nullptr;
    }
    pool->heap->limit_bytes = options.limit;
    pool->heap->zero_on_free = options.zero_on_free;
  }
  ++pools_alive;
  return pool;
}

static void* rent_once(tp_pool* pool) {
  if (pool->bin == 0) return rent_uncached(pool->heap, 0, pool->shape);
  Heap* heap = current_heap();
  if (heap == nullptr) return nullptr;
  if (!is_thread_heap(heap)) return rent_uncached(heap, pool->bin, pool->shape);
  void* block = detail::pop(heap, pool->bin);
  return block != nullptr ? block : rent_slow(heap, pool->bin, pool->block_size);
}

// A purge frees nothing that counts against the limit of a pool without a bin: what its heap keeps has gone already.
static bool is_at_its_limit(tp_pool* pool) {
  size_t page = size_t{pool->shape.slices} << slice_shift;
  if (pool->bin != 0) return !fits_pool_bin(pool->bin, page);
  Locked locked(pool->heap->lock);
  return !fits_limit(pool->heap, page);
}

// Collects the bin in every heap: pages of other threads may be empty without their heaps having noticed.
static void collect_everywhere(size_t bin) {
  uint32_t now = now_stamp();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    Locked locked(heap->lock);
    drain_pending(heap);
    collect_bin(heap, bin, now);
  }
}

void* rent_from_pool(tp_pool* pool) {
  void* block = rent_once(pool);
  if (TP_LIKELY(block != nullptr)) return block;
  if (!is_at_its_limit(pool)) {
    purge_for_allocation();
  } else if (pool->bin != 0) {
    collect_everywhere(pool->bin);
  } else {
    return nullptr;
  }
  return rent_once(pool);
}

void return_to_pool(tp_pool*, void* block) { unchecked::free(block); }

void pool_usage(tp_pool* pool, size_t* live_bytes, size_t* held_bytes) {
  size_t bin = pool->bin;
  size_t live = 0, cached = 0;
  for (Heap* heap = bin != 0 ? first_heap() : pool->heap; heap != nullptr; heap = bin != 0 ? heap->next : nullptr) {
    Locked locked(heap->lock);
    for (uint32_t list : {heap->queue[bin], heap->full[bin]}) {
      for (PageId id = list; id != 0; id = page_of(id)->next) {
        live += page_of(id)->used - RemoteWord{page_of(id)->remote.load(std::memory_order_relaxed)}.count();
      }
    }
    if (bin != 0) cached += cached_blocks(heap, bin);
  }
  // Magazines hold blocks of other heaps' pages, so only the sums compare; an estimate while threads run.
  *live_bytes = (live > cached ? live - cached : 0) * pool->block_size;
  if (bin != 0) {
    *held_bytes = held_by_pool_bin(bin);
  } else {
    Locked locked(pool->heap->lock);
    *held_bytes = pool->heap->held_bytes;
  }
}

void destroy_pool(tp_pool* pool) {
  if (pool->bin == 0) {
    destroy_heap(pool->heap);
  } else {
    // No thread uses the pool any more, so its magazines in other threads' heaps are still.
    // All of them are emptied before any page goes: a thread that ends meanwhile flushes what it still has.
    for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
      Locked locked(heap->lock);
      if (heap->top[pool->bin] != nullptr) heap->top[pool->bin] = heap->bottom(pool->bin);
      heap->refills[pool->bin] = 0;
    }
    for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
      Locked locked(heap->lock);
      release_bin(heap, pool->bin);
    }
    note_idle_pages(true);
  }
  Locked locked(pools_lock);
  if (pool->bin != 0) give_pool_bin(pool->bin);
  --pools_alive;
  give_structure(pool);
}

size_t pool_count() {
  Locked locked(pools_lock);
  return pools_alive;
}

}  // namespace tp
