#include "heap/unchecked.h"

#include <string.h>

#include "base/options.h"
#include "heap/flush.h"
#include "heap/large.h"
#include "heap/magazines.h"
#include "heap/purge.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"
#include "profile/heap_profile.h"
#include "profile/size_histogram.h"

namespace tp::unchecked {

namespace {

constexpr size_t move_from = size_t{1} << 20;  // moving pages costs less than copying them from about here

// The bin whose blocks are aligned and large enough; 0: whole slices.
size_t aligned_bin(size_t size, size_t alignment) {
  if (alignment > max_class_size || size > max_class_size) return 0;
  size_t rounded = round_up(size != 0 ? size : 1, alignment);
  if (rounded > max_class_size) return 0;
  size_t bin = bin_of(rounded);
  // Every table has the powers of two, so this ends.
  while (size_of_bin(bin) % alignment != 0) ++bin;
  return bin;
}

size_t bin_for(size_t size, size_t alignment) {
  if (alignment > min_alignment) return aligned_bin(size, alignment);
  return size <= max_class_size ? bin_of(size) : 0;
}

// Sampled blocks are of a heap whose blocks no thread caches, so that their free is noticed.
Heap* sample_heap() {
  static std::atomic<Heap*> made{nullptr};
  Heap* heap = made.load(std::memory_order_acquire);
  if (heap != nullptr) return heap;
  heap = create_heap(HeapState::pool);  // not one of the program's heaps
  if (heap == nullptr) return nullptr;
  Heap* none = nullptr;
  if (made.compare_exchange_strong(none, heap, std::memory_order_acq_rel)) return heap;
  destroy_heap(heap);
  return none;
}

void* allocate_sample(size_t size, size_t alignment, uint32_t samples) {
  Heap* heap = sample_heap();
  if (heap == nullptr) return nullptr;
  size_t bin = bin_for(size, alignment);
  void* block = bin != 0 ? rent_uncached(heap, bin, shapes.of[bin]) : rent_large(heap, size, alignment, false);
  if (block != nullptr) profile::record(block, size, samples);
  return block;
}

bool is_cached(const Heap* heap) {
  return heap->state.load(std::memory_order_relaxed) == HeapState::thread && !is_instrumented();
}

// Another block in place of one that is a sample, or stands for several.
void* sample_instead(void* block, size_t bin, size_t size, size_t alignment, uint32_t samples) {
  void* sample = allocate_sample(size, alignment, samples);
  if (sample == nullptr) return block;
  PageId id = page_with(block);
  if (bin != 0) return_to_page(id, block);
  else return_large(nullptr, id);
  return sample;
}

void* allocate_block(Heap* heap, size_t bin, size_t size) {
  if (!is_cached(heap)) {
    profile::note_exact(size);
    return rent_uncached(heap, bin, shapes.of[bin]);
  }
  void* block = detail::pop(heap, bin);
  return block != nullptr ? block : rent_slow(heap, bin, size);
}

// Allocates while the heap profile samples: a refill counts for all the blocks that it brought.
TP_NOINLINE void* allocate_counted(Heap* heap, size_t bin, size_t size, size_t alignment) {
  bool cached = bin != 0 && is_cached(heap);
  if (cached && heap->top[bin] != heap->bottom(bin)) return allocate_block(heap, bin, size);
  void* block = bin != 0 ? allocate_block(heap, bin, size) : rent_large(heap, size, alignment, false);
  if (block == nullptr) return nullptr;
  auto blocks = cached ? static_cast<uint32_t>(heap->top[bin] - heap->bottom(bin)) + 1 : 1;
  uint32_t samples = profile::take_samples(size, blocks);
  return samples != 0 ? sample_instead(block, bin, size, alignment, samples) : block;
}

void* allocate_once(size_t size, size_t alignment, bool zero) {
  Heap* heap = current_heap();
  if (heap == nullptr) return nullptr;
  size_t bin = bin_for(size, alignment);
  void* block;
  if (TP_UNLIKELY(profile::sampling())) {
    block = allocate_counted(heap, bin, size, alignment);
  } else if (bin == 0) {
    return rent_large(heap, size, alignment, zero);
  } else {
    block = allocate_block(heap, bin, size);
  }
  if (zero && block != nullptr) memset(block, 0, size);
  return block;
}

void* allocate_in_once(Heap* heap, size_t size, size_t alignment, bool zero) {
  size_t bin = bin_for(size, alignment);
  if (bin == 0) return rent_large(heap, size, alignment, zero);
  void* block = rent_uncached(heap, bin, shapes.of[bin]);
  if (zero && block != nullptr) memset(block, 0, size);
  return block;
}

bool is_at_its_limit(Heap* heap, size_t size, size_t alignment) {
  size_t bin = bin_for(size, alignment);
  size_t slices = bin != 0 ? shapes.of[bin].slices : slices_for(size);
  Locked locked(heap->lock);
  return !fits_limit(heap, slices << slice_shift);
}

}  // namespace

void* allocate(size_t size, size_t alignment, bool zero) {
  if (size > largest_arena) return nullptr;
  return allocate_or_purge([=] { return allocate_once(size, alignment, zero); });
}

void* allocate_in(Heap* heap, size_t size, size_t alignment, bool zero) {
  if (size > largest_arena) return nullptr;
  void* block = allocate_in_once(heap, size, alignment, zero);
  // A purge frees nothing that counts against the heap's own limit: what the heap keeps has gone already.
  if (TP_LIKELY(block != nullptr) || is_at_its_limit(heap, size, alignment)) return block;
  purge_for_allocation();
  return allocate_in_once(heap, size, alignment, zero);
}

Block find(const void* address) {
  PageId id = first_slice_of(slice_of(address));
  if (id == 0) return {};
  const Page* page = page_of(id);
  auto* start = static_cast<char*>(address_of(id));
  Heap* owner = page->owner.load(std::memory_order_relaxed);
  if (page->is(PageKind::large)) return {start, size_t{page->run_length()} << slice_shift, id, owner};
  auto offset = static_cast<size_t>(static_cast<const char*>(address) - start);
  if (offset / page->block_size >= page->capacity) return {};  // behind the last block
  return {start + offset / page->block_size * page->block_size, page->block_size, id, owner};
}

void free(void* block) {
  PageId id = page_with(block);
  Heap* heap = known_heap();
  if (page_of(id)->is(PageKind::large)) {
    profile::forget(block);
    if (options::get(tp_option_zero_on_free) != 0) memset(block, 0, size_t{page_of(id)->run_length()} << slice_shift);
    return return_large(heap, id);
  }
  size_t bin = *bins_of(id);
  if (bin == 0) {
    profile::forget(block);
    if (zeroes_what_is_freed(page_of(id)->owner.load(std::memory_order_relaxed))) {
      memset(block, 0, page_of(id)->block_size);
    }
    return return_to_page(id, block);
  }
  // A thread that only frees a few blocks, at its very end when destructors do not run any more, needs no heap.
  static __thread uint8_t frees_without_heap TP_TLS_MODEL;
  if (heap == nullptr && !is_ending_thread() && ++frees_without_heap > 64) heap = current_heap();
  if (heap == nullptr || is_ending_thread() || is_instrumented()) {
    if (options::get(tp_option_zero_on_free) != 0) memset(block, 0, page_of(id)->block_size);
    // Also when the page is the thread's own: the block goes to its remote word.
    return return_to_page(id, block);
  }
  if (!detail::push(heap, bin, block)) return_slow(heap, block, bin);
}

size_t good_size(size_t size) {
  if (size > max_size - slice_size) return 0;
  return size <= max_class_size ? size_of_bin(bin_of(size)) : slices_for(size) << slice_shift;
}

// A block that could not grow where it lies is likely to grow again. It gets a quarter more as headroom, so that all its moves
// together cost a few times its size. Of the heap, or null: of the thread. Null: there is not so much, or a limit counts it.
static void* allocate_with_headroom(Heap* heap, size_t size) {
  if (size > largest_arena || profile::sampling()) return nullptr;
  if (options::memory_limit() != 0 || (heap != nullptr && heap->limit_bytes != 0)) return nullptr;
  size_t roomy = size + size / 4;
  void* block = heap != nullptr ? allocate_in_once(heap, roomy, 0, false) : allocate_once(roomy, 0, false);
  if (block != nullptr) leave_headroom(slice_of(block), size);
  return block;
}

void* reallocate(void* block, size_t old, size_t size) {
  if (size > max_size - slice_size) return nullptr;
  PageId id = slice_of(block);
  const Page* page = page_of(id);
  bool large = page->is(PageKind::large);
  if (large && size > max_class_size) {
    if (resize_large(id, size)) return block;
  } else if (!large && size <= old && good_size(size) >= old - old / 4) {
    return block;
  }
  Heap* owner = (page - page->first)->owner.load(std::memory_order_relaxed);
  bool of_explicit_heap = owner->state.load(std::memory_order_relaxed) == HeapState::explicit_ && *bins_of(id) == 0;
  Heap* heap = of_explicit_heap && owner != sample_heap() ? owner : nullptr;
  void* moved = large && size > old ? allocate_with_headroom(heap, size) : nullptr;
  if (moved == nullptr) moved = heap != nullptr ? allocate_in(heap, size, 0, false) : allocate(size, 0, false);
  if (moved == nullptr) return nullptr;
  size_t kept = size < old ? size : old;
  size_t pages = kept & ~(os::page_size() - 1);
  if (large && kept >= move_from && slice_with(moved)->is(PageKind::large) && os::move_pages(block, moved, pages)) {
    memcpy(static_cast<char*>(moved) + pages, static_cast<char*>(block) + pages, kept - pages);
  } else {
    memcpy(moved, block, kept);
  }
  free(block);
  return moved;
}

}  // namespace tp::unchecked
