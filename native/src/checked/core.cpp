#include "checked/core.h"

#if TIDEPOOL_CHECKED

#include "base/report.h"
#include "heap/flush.h"
#include "heap/large.h"
#include "heap/magazines.h"
#include "heap/purge.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"

namespace tp::check {

namespace {

static_assert(most_core_bytes == largest_arena);

// The bin of the smallest class that has room for size and is a multiple of the alignment, since blocks lie one behind
// another from an aligned start; 0: a large block.
size_t aligned_bin_of(size_t size, size_t alignment) {
  if (size > max_class_size || alignment > max_class_size) return 0;
  size_t bin = bin_of(size);
  while (bin <= class_count && size_of_bin(bin) % alignment != 0) ++bin;
  return bin <= class_count ? bin : 0;
}

}  // namespace

void core_start() {
  load_options();
  current_heap();
}

void* core_allocate(Heap* heap, size_t size, size_t alignment) {
  if (heap == nullptr) heap = current_heap();
  if (heap == nullptr) return nullptr;
  size_t bin = aligned_bin_of(size, alignment);
  if (bin == 0) return rent_large(heap, size, alignment, false);
  return rent_uncached(heap, bin, shapes.of[bin]);
}

void core_free(void* memory) {
  PageId id = page_with(memory);
  if (page_of(id)->is(PageKind::large)) {
    return_large(known_heap(), id);
  } else {
    return_to_page(id, memory);
  }
}

void core_purge() { purge_for_allocation(); }

bool core_owns(const void* address) { return slice_of(address) != 0; }

Heap* core_create_heap(bool for_pool, const char* name, size_t limit) {
  Heap* heap = create_heap(for_pool ? HeapState::pool : HeapState::explicit_);
  if (heap == nullptr) return nullptr;
  heap->limit_bytes = limit;
  copy_name(heap->name, name);
  return heap;
}

void core_destroy_heap(Heap* heap) { destroy_heap(heap); }

size_t core_held_bytes(Heap* heap) {
  Locked locked(heap->lock);
  return heap->held_bytes;
}

}  // namespace tp::check

#endif
