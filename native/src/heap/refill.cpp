#include "heap/refill.h"

#include "heap/discard.h"
#include "heap/kept.h"
#include "heap/pool_bins.h"
#include "heap/registry.h"
#include "os/assert.h"
#include "pages/runs.h"
#include "pages/stamp.h"

namespace tp {

namespace {

void link(uint32_t& list, PageId id) {
  Page* page = page_of(id);
  page->prev = 0;
  page->next = list;
  if (list != 0) page_of(list)->prev = id;
  list = id;
}

void unlink(uint32_t& list, PageId id) {
  Page* page = page_of(id);
  if (page->prev != 0) page_of(page->prev)->next = page->next;
  else list = page->next;
  if (page->next != 0) page_of(page->next)->prev = page->prev;
}

// Puts the blocks that other threads gave back in front of the page's own list. False: there are none.
bool collect_page(PageId id) {
  Page* page = page_of(id);
  RemoteWord word{page->remote.load(std::memory_order_relaxed)};
  TP_ASSERT(word.is_valid());
  if (word.empty()) return false;
  word.bits = page->remote.exchange(RemoteWord::watched().bits, std::memory_order_acquire);
  auto base = reinterpret_cast<uintptr_t>(address_of(id));
  Batch* last = FreeList::batch_at(base, word.chain());
  while (last->next != 0) last = FreeList::batch_at(base, last->next);
  page->free.prepend(word.chain(), last);
  page->used -= word.count();
  return true;
}

// Cuts new blocks without touching them; the first in address order is rented first.
uint32_t carve(PageId id, void** blocks, uint32_t most) {
  Page* page = page_of(id);
  uint32_t count = page->capacity - page->carved;
  if (count > most) count = most;
  use_units(id, page->carved * page->block_size, (page->carved + count) * page->block_size);
  char* block = static_cast<char*>(address_of(id)) + size_t{page->carved} * page->block_size;
  for (uint32_t i = count; i-- != 0; block += page->block_size) blocks[i] = block;
  page->carved += count;
  page->used += count;
  return count;
}

void set_up_page(Heap* heap, PageId id, size_t bin, const Shape& shape) {
  Page* page = page_of(id);
  TP_ASSERT(page->is(PageKind::unused));
  page->clear();
  page->remote.store(RemoteWord::watched().bits, std::memory_order_relaxed);
  page->owner.store(heap, std::memory_order_relaxed);
  page->capacity = shape.capacity;
  page->block_size = shape.block_size;
  page->reciprocal = shape.reciprocal;
  page->bin = static_cast<uint8_t>(bin);
  page->slices = static_cast<uint8_t>(shape.slices);
  page->stamp = heap->kept_stamp;
  page->set_kind(PageKind::small);
  for (uint32_t i = 1; i < shape.slices; ++i) {
    page_of(id + i)->first = static_cast<uint8_t>(i);
    page_of(id + i)->set_kind(PageKind::inner);
  }
  *discarded_of(id) = {};
  // Every free of every thread reads the map's cache lines, so equal bytes are not written again.
  uint8_t mapped = heap->caches ? static_cast<uint8_t>(bin) : 0;
  for (uint32_t i = 0; i < shape.slices; ++i) {
    if (*bins_of(id + i) != mapped) *bins_of(id + i) = mapped;
  }
}

// Clears the entries of a page without used blocks, so that a flush notices stale pointers into it. Its bytes in the map stay
// until the slices go back to the arena or serve another bin.
void clear_page(PageId id) {
  Page* page = page_of(id);
  uint32_t slices = page->slices;
  *discarded_of(id) = {};
  for (uint32_t i = 0; i < slices; ++i) page_of(id + i)->clear();
}

void page_emptied(Heap* heap, PageId id) {
  Page* page = page_of(id);
  TP_ASSERT(page->used == 0 && RemoteWord{page->remote.load(std::memory_order_relaxed)} == RemoteWord::watched());
  uint32_t slices = page->slices;
  uint32_t stamp = page->stamp;
  unlink(heap->queue[page->bin], id);
  if (page->bin >= first_pool_bin) discharge_pool_bin(page->bin, size_t{slices} << slice_shift);
  clear_page(id);
  keep_slices(heap, id, slices, stamp);
}

// Expects a page to be filled from end to end when the bin has filled several. A heap with a page or two of every size fills
// none, and a page of long blocks leaves more unused.
Fill fill_of(const Heap* heap, size_t bin, const Shape& shape) {
  constexpr size_t large_heap = size_t{4} << 20;
  constexpr uint32_t longest_block = 8192;
  constexpr int full_pages = 8;
  if (shape.block_size > longest_block || heap->held_bytes.load(std::memory_order_relaxed) < large_heap) return Fill::sparse;
  int full = 0;
  for (PageId id = heap->full[bin]; id != 0 && full < full_pages; id = page_of(id)->next) ++full;
  return full == full_pages ? Fill::dense : Fill::sparse;
}

PageId add_page(Heap* heap, size_t bin, const Shape& shape) {
  if (PageId id = take_page_of_orphans(heap, bin); id != 0) {
    note_change(heap);
    heap->held_bytes += size_t{page_of(id)->slices} << slice_shift;
    link(heap->queue[bin], id);
    return id;
  }
  size_t bytes = size_t{shape.slices} << slice_shift;
  if (bin >= first_pool_bin && !charge_pool_bin(bin, bytes)) return 0;
  PageId id = take_slices(heap, shape.slices, fill_of(heap, bin, shape));
  if (id == 0) {
    if (bin >= first_pool_bin) discharge_pool_bin(bin, bytes);
    return 0;
  }
  set_up_page(heap, id, bin, shape);
  link(heap->queue[bin], id);
  return id;
}

// Moves a page whose blocks are all out to the full ones. False: another thread gave one back meanwhile.
bool retire_full(Heap* heap, PageId id) {
  Page* page = page_of(id);
  uint64_t watched = RemoteWord::watched().bits;
  if (!page->remote.compare_exchange_strong(watched, 0, std::memory_order_acq_rel, std::memory_order_relaxed)) return false;
  unlink(heap->queue[page->bin], id);
  link(heap->full[page->bin], id);
  return true;
}

}  // namespace

uint32_t take_blocks(Heap* heap, size_t bin, const Shape& shape, void** blocks, uint32_t most) {
  TP_ASSERT(heap->lock.is_held());
  ++heap->refills[bin];
  uint32_t count = 0;
  while (count < most) {
    PageId id = heap->queue[bin];
    if (id == 0 && heap->pending.load(std::memory_order_relaxed) != 0) {
      drain_pending(heap);
      id = heap->queue[bin];
    }
    if (id == 0 && count == 0) id = add_page(heap, bin, shape);
    if (id == 0) break;
    Page* page = page_of(id);
    if (page->free.empty()) collect_page(id);
    if (page->free.empty() && discarded_of(id)->lost != 0) {
      if (count != 0) break;
      restore_lost(id);
    }
    if (!page->free.empty()) {
      uint32_t taken = page->free.pop(reinterpret_cast<uintptr_t>(address_of(id)), blocks + count, most - count);
      page->used += taken;
      count += taken;
    } else if (page->carved != page->capacity) {
      count += carve(id, blocks + count, most - count);
    } else {
      retire_full(heap, id);
    }
  }
  return count;
}

void requeue_page(Heap* heap, PageId id) {
  TP_ASSERT(heap->lock.is_held());
  Page* page = page_of(id);
  TP_ASSERT(page->is(PageKind::small) && page->owner.load(std::memory_order_relaxed) == heap);
  if (!RemoteWord{page->remote.load(std::memory_order_relaxed)}.listed() &&
      !RemoteWord{page->remote.fetch_or(RemoteWord::listed_bit, std::memory_order_acq_rel)}.listed()) {
    unlink(heap->full[page->bin], id);
    link(heap->queue[page->bin], id);
  }
  // A page that another thread has just listed still has used blocks: the chain of that thread.
  if (page->used == 0) page_emptied(heap, id);
}

void drain_pending(Heap* heap) {
  TP_ASSERT(heap->lock.is_held());
  PageId id = heap->pending.exchange(0, std::memory_order_acquire);
  while (id != 0) {
    Page* page = page_of(id);
    TP_ASSERT(page->owner.load(std::memory_order_relaxed) == heap);
    PageId next = page->pending;
    page->pending = 0;
    unlink(heap->full[page->bin], id);
    link(heap->queue[page->bin], id);
    id = next;
  }
}

void relist_full_pages(Heap* heap) {
  drain_pending(heap);
  for (size_t bin = 0; bin < bin_count; ++bin) {
    for (PageId id = heap->full[bin], next = 0; id != 0; id = next) {
      Page* page = page_of(id);
      next = page->next;
      if (!RemoteWord{page->remote.load(std::memory_order_relaxed)}.listed()) continue;
      page->pending = 0;
      unlink(heap->full[bin], id);
      link(heap->queue[bin], id);
    }
  }
}

void collect_bin(Heap* heap, size_t bin, uint32_t now) {
  TP_ASSERT(heap->lock.is_held());
  for (PageId id = heap->queue[bin], next = 0; id != 0; id = next) {
    next = page_of(id)->next;
    if (collect_page(id)) page_of(id)->stamp = now;
    if (page_of(id)->used == 0) page_emptied(heap, id);
  }
}

void collect(Heap* heap, uint32_t now) {
  drain_pending(heap);
  for (size_t bin = 0; bin < bin_count; ++bin) collect_bin(heap, bin, now);
}

void release_bin(Heap* heap, size_t bin) {
  TP_ASSERT(heap->lock.is_held());
  bool zeroes = zeroes_what_is_freed(heap);
  drain_pending(heap);
  uint32_t stamp = now_stamp();
  for (uint32_t* list : {&heap->queue[bin], &heap->full[bin]}) {
    while (PageId id = *list) {
      uint32_t slices = page_of(id)->slices;
      unlink(*list, id);
      if (bin >= first_pool_bin) discharge_pool_bin(bin, size_t{slices} << slice_shift);
      if (zeroes) __builtin_memset(address_of(id), 0, size_t{slices} << slice_shift);
      clear_page(id);
      release_run(heap, id, slices, stamp);
    }
  }
}

void release_everything(Heap* heap) {
  bool zeroes = zeroes_what_is_freed(heap);
  uint32_t stamp = now_stamp();
  for (size_t bin = 0; bin < bin_count; ++bin) release_bin(heap, bin);
  while (PageId id = heap->large) {
    heap->large = page_of(id)->next;
    uint32_t slices = page_of(id)->run_length();
    if (zeroes) __builtin_memset(address_of(id), 0, size_t{slices} << slice_shift);
    page_of(id)->clear();
    release_run(heap, id, slices, stamp);
  }
  release_kept(heap, 0, 0);
}

PageId detach_page(Heap* heap, size_t bin) {
  drain_pending(heap);
  for (PageId id = heap->queue[bin]; id != 0; id = page_of(id)->next) {
    collect_page(id);
    const Page* page = page_of(id);
    if (page->used == page->carved && page->carved == page->capacity) continue;
    unlink(heap->queue[bin], id);
    heap->held_bytes -= size_t{page->slices} << slice_shift;
    return id;
  }
  return 0;
}

}  // namespace tp
