// The entry points for heaps and pools.

#include "api/blocks.h"
#include "base/report.h"
#include "checked/entry.h"
#include "heap/magazines.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"
#include "heap/unchecked.h"
#include "pools/pool.h"

// A tp_heap of the release library is a Heap; of the checked library, a record of its own.
static tp::Heap* heap_of(tp_heap* heap) { return reinterpret_cast<tp::Heap*>(heap); }

namespace tp {

namespace {

bool belongs_to(const Heap* heap, const void* block) {
  unchecked::Block found = unchecked::find(block);
  if (found.start == block && found.owner == heap) return true;
  Text text;
  text.add("heap mismatch: ").add_address(block).add(" of ").add(found.size).add(" bytes is not a block of the heap ");
  text.add(heap->name[0] != 0 ? heap->name : "(unnamed)");
  report_misuse(tp_misuse_heap_mismatch, block, found.size, text.c_str());
  return false;
}

size_t live_bytes_of(Heap* heap) {
  size_t live = 0;
  for (size_t bin = 0; bin < bin_count; ++bin) {
    for (uint32_t list : {heap->queue[bin], heap->full[bin]}) {
      for (PageId id = list; id != 0; id = page_of(id)->next) live += size_t{page_of(id)->used} * page_of(id)->block_size;
    }
  }
  for (PageId id = heap->large; id != 0; id = page_of(id)->next) live += page_of(id)->usable_length();
  return live;
}

}  // namespace

}  // namespace tp

using namespace tp;

tp_heap* tp_heap_create(const tp_heap_options* options) noexcept {
  if (checked) return check::heap_create(options);
  if (options != nullptr && options->struct_size != sizeof(tp_heap_options)) {
    errno = EINVAL;
    return nullptr;
  }
  Heap* heap = create_heap(HeapState::explicit_);
  if (heap == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  if (options != nullptr) {
    copy_name(heap->name, options->name);
    heap->limit_bytes = options->limit;
    heap->zero_on_free = options->zero_on_free;
  }
  return reinterpret_cast<tp_heap*>(heap);
}

void* tp_heap_malloc(tp_heap* heap, size_t size) noexcept {
  if (checked) return check::heap_allocate(heap, size, 0, false);
  return or_enomem(unchecked::allocate_in(heap_of(heap), size, 0, false));
}

void* tp_heap_zalloc(tp_heap* heap, size_t size) noexcept {
  if (checked) return check::heap_allocate(heap, size, 0, true);
  return or_enomem(unchecked::allocate_in(heap_of(heap), size, 0, true));
}

void* tp_heap_aligned_alloc(tp_heap* heap, size_t alignment, size_t size) noexcept {
  if (!is_power_of_two(alignment) || alignment > max_alignment) {
    errno = EINVAL;
    return nullptr;
  }
  if (checked) return check::heap_allocate(heap, size, alignment, false);
  return or_enomem(unchecked::allocate_in(heap_of(heap), size, alignment, false));
}

void tp_heap_free(tp_heap* heap, void* block) noexcept {
  if (checked) return check::heap_release(heap, block);
  if (block != nullptr && belongs_to(heap_of(heap), block)) unchecked::free(block);
}

void tp_heap_free_aligned_sized(tp_heap* heap, void* block, size_t alignment, size_t size) noexcept {
  if (checked) return check::heap_release_aligned_sized(heap, block, alignment, size);
  (void)alignment, (void)size;
  tp_heap_free(heap, block);
}

void tp_heap_usage(tp_heap* heap, size_t* live_bytes, size_t* held_bytes) noexcept {
  if (checked) return check::heap_usage(heap, live_bytes, held_bytes);
  Heap* h = heap_of(heap);
  Locked locked(h->lock);
  if (live_bytes != nullptr) *live_bytes = live_bytes_of(h);
  if (held_bytes != nullptr) *held_bytes = h->held_bytes;
}

void tp_heap_destroy(tp_heap* heap) noexcept {
  if (heap == nullptr) return;
  if (checked) return check::heap_destroy(heap);
  destroy_heap(heap_of(heap));
}

tp_pool* tp_pool_create(const tp_pool_options* options) noexcept {
  if (checked) return check::pool_create(options);
  if (int error = verify_pool_options(options); error != 0) {
    errno = error;
    return nullptr;
  }
  tp_pool* pool = create_pool(*options);
  if (pool == nullptr) errno = ENOMEM;
  return pool;
}

extern "C" TP_EXPORT void* tp_pool_rent_slow_(tp_pool* pool) noexcept {
  if (checked) return check::pool_rent(pool);
  return or_enomem(rent_from_pool(pool));
}

extern "C" TP_EXPORT void tp_pool_return_slow_(tp_pool* pool, void* block) noexcept {
  if (checked) return check::pool_return(pool, block);
  if (pool->bin == 0) return return_to_pool(pool, block);
  Heap* heap = known_heap();
  if (heap == nullptr || heap->span == 0) return detail::tp_free_slow_(block);
  return_slow(heap, block, pool->bin);
}

void* tp_pool_rent(tp_pool* pool) noexcept {
  if constexpr (checked) return check::pool_rent(pool);
  else return detail::rent_from(pool);
}

void tp_pool_return(tp_pool* pool, void* block) noexcept {
  if (TP_UNLIKELY(block == nullptr)) return;
  if constexpr (checked) check::pool_return(pool, block);
  else detail::return_to(pool, block);
}

size_t tp_pool_rent_batch(tp_pool* pool, size_t count, void** blocks) noexcept {
  size_t done = 0;
  while (done < count && (blocks[done] = tp_pool_rent(pool)) != nullptr) ++done;
  return done;
}

void tp_pool_return_batch(tp_pool* pool, void* const* blocks, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) tp_pool_return(pool, blocks[i]);
}

size_t tp_pool_block_size(const tp_pool* pool) noexcept {
  return checked ? check::pool_block_size(pool) : pool->block_size;
}

void tp_pool_usage(tp_pool* pool, size_t* live_bytes, size_t* held_bytes) noexcept {
  if (checked) return check::pool_usage(pool, live_bytes, held_bytes);
  size_t live = 0, held = 0;
  pool_usage(pool, &live, &held);
  if (live_bytes != nullptr) *live_bytes = live;
  if (held_bytes != nullptr) *held_bytes = held;
}

void tp_pool_destroy(tp_pool* pool) noexcept {
  if (pool == nullptr) return;
  if (checked) return check::pool_destroy(pool);
  destroy_pool(pool);
}
