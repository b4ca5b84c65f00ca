#include "heap/discard.h"

#include "os/assert.h"
#include "pages/stamp.h"

namespace tp {

namespace {

constexpr uint32_t unit = 4096;
constexpr uint32_t most_units = 64;
constexpr uint32_t most_slices = most_units * unit / slice_size;  // of larger pages nothing goes back

// Bit i: some byte of the block lies in unit i.
uint64_t units_of(uint32_t offset, uint32_t size) {
  uint32_t first = offset / unit;
  uint32_t last = (offset + size - 1) / unit;
  uint64_t upto = last == 63 ? ~uint64_t{0} : (uint64_t{1} << (last + 1)) - 1;
  return upto & ~((uint64_t{1} << first) - 1);
}

// Neighbouring units, at least one.
struct Units {
  uint32_t first, end;
  uint64_t bits() const { return (end == most_units ? ~uint64_t{0} : (uint64_t{1} << end) - 1) & ~((uint64_t{1} << first) - 1); }
};

// The set units from the first one on, which is set.
Units first_run(uint64_t units, uint32_t first) {
  uint64_t after = ~(units >> first);
  return {first, after == 0 ? most_units : first + static_cast<uint32_t>(__builtin_ctzll(after))};
}

// For assertions: the lock of the page's heap is held.
[[maybe_unused]] bool is_locked(PageId id) { return page_of(id)->owner.load(std::memory_order_relaxed)->lock.is_held(); }

uintptr_t base_of(PageId id) { return reinterpret_cast<uintptr_t>(address_of(id)); }

uint32_t offset_in(PageId id, const void* block) {
  return static_cast<uint32_t>(static_cast<const char*>(block) - static_cast<const char*>(address_of(id)));
}

// The units that only free blocks, lost ones and space that was never carved lie in.
uint64_t free_units(PageId id) {
  const Page* page = page_of(id);
  uint32_t covered[most_units] = {};
  auto cover = [&](uint32_t from, uint32_t to) {
    while (from < to) {
      uint32_t end = (from / unit + 1) * unit;
      if (end > to) end = to;
      covered[from / unit] += end - from;
      from = end;
    }
  };
  page->free.for_each(base_of(id), [&](void* block) {
    uint32_t offset = offset_in(id, block);
    cover(offset, offset + page->block_size);
  });
  uint32_t carved_end = page->carved * page->block_size;
  for (uint64_t left = discarded_of(id)->units; left != 0;) {
    Units run = first_run(left, static_cast<uint32_t>(__builtin_ctzll(left)));
    left &= ~run.bits();
    // The blocks at its ends lie in its neighbours, too.
    uint32_t from = run.first * unit / page->block_size * page->block_size;
    uint32_t upto = (run.end * unit + page->block_size - 1) / page->block_size * page->block_size;
    cover(from, upto < carved_end ? upto : carved_end);
  }
  uint32_t end = static_cast<uint32_t>(page->slices) << slice_shift;
  cover(carved_end, end);
  uint64_t units = 0;
  for (uint32_t i = 0; i < end / unit; ++i) {
    if (covered[i] == unit) units |= uint64_t{1} << i;
  }
  return units;
}

// The units of the system's pages that are free as a whole.
uint64_t whole_pages(uint64_t units) {
  uint32_t per_page = static_cast<uint32_t>(os::page_size() / unit);
  if (per_page <= 1) return units;
  if (per_page > most_units) return 0;
  uint64_t whole = 0;
  uint64_t page = per_page == 64 ? ~uint64_t{0} : (uint64_t{1} << per_page) - 1;
  for (uint32_t i = 0; i < most_units; i += per_page) {
    if ((units >> i & page) == page) whole |= page << i;
  }
  return whole;
}

// Takes the blocks that lie in these units off the free list; returns how many.
uint32_t drop_blocks(PageId id, uint64_t units) {
  TP_ASSERT(is_locked(id));
  Page* page = page_of(id);
  uint32_t dropped = 0;
  FreeList kept;
  page->free.for_each(base_of(id), [&](void* block) {
    if ((units_of(offset_in(id, block), page->block_size) & units) != 0) {
      ++dropped;
    } else {
      kept.push(grid_of(id), block);
    }
  });
  page->free = kept;
  return dropped;
}

// Bytes that may be resident and are not in use. Blocks in use count as resident.
size_t idle_in(PageId id) {
  const Page* page = page_of(id);
  size_t gone = size_t{unit} * static_cast<size_t>(__builtin_popcountll(discarded_of(id)->units));
  size_t not_resident = gone + size_t{page->used} * page->block_size;
  size_t whole = size_t{page->slices} << slice_shift;
  return not_resident < whole ? whole - not_resident : 0;
}

// Discards the free units of a page; returns bytes. The blocks leave the list first: a failure leaves them lost, which costs
// nothing.
size_t discard_page(PageId id) {
  if (idle_in(id) < unit) return 0;
  Discarded* discarded = discarded_of(id);
  uint64_t units = whole_pages(free_units(id)) & ~discarded->units;
  if (units == 0) return 0;
  discarded->lost += drop_blocks(id, units);
  discarded->units |= units;
  size_t bytes = 0;
  for (uint64_t left = units; left != 0;) {
    // One call of the system spans units that went before.
    Units run = first_run(discarded->units, static_cast<uint32_t>(__builtin_ctzll(left)));
    uint64_t fresh = left & run.bits();
    uint32_t last = most_units - 1 - static_cast<uint32_t>(__builtin_clzll(fresh));
    if (os::discard(static_cast<char*>(address_of(id)) + size_t{run.first} * unit, size_t{last + 1 - run.first} * unit)) {
      bytes += size_t{unit} * static_cast<size_t>(__builtin_popcountll(fresh));
    }
    left &= ~fresh;
  }
  return bytes;
}

}  // namespace

// Returns the page where the last visit ended, if the heap still has it in the queue or among the full ones; else the queue's
// first, and pages that were seen are skipped.
static PageId go_on(const Heap* heap, const DiscardPlace& at) {
  const Page* page = at.page != 0 ? page_of(at.page) : nullptr;
  bool linked = page != nullptr && page->is(PageKind::small) && page->bin == at.bin &&
                page->owner.load(std::memory_order_relaxed) == heap;
  return linked ? at.page : heap->queue[at.bin];
}

size_t discard_free_parts(Heap* heap, uint32_t now, uint32_t min_idle_ms, PurgeCause cause, DiscardPlace* at) {
  TP_ASSERT(heap->lock.is_held());
  constexpr int most_pages = 64;
  size_t bytes = 0;
  int done = 0;
  for (; at->bin < bin_count; *at = {at->bin + 1, 0}) {
    for (PageId id = go_on(heap, *at); id != 0; id = page_of(id)->next) {
      Page* page = page_of(id);
      Discarded* discarded = discarded_of(id);
      if (page->slices > most_slices || !is_idle(now, page->stamp, min_idle_ms) || discarded->seen == page->used + 1) continue;
      if (done++ == most_pages) {
        at->page = id;
        return bytes;
      }
      size_t gone = discard_page(id);
      if (gone != 0) heap->parts_gone_at = cause == PurgeCause::idleness ? now : 0;
      bytes += gone;
      discarded->seen = page->used + 1;
    }
  }
  return bytes;
}

// A block that comes back leaves at most the units that it lies in idle; the last one leaves the whole page.
size_t idle_after_return(PageId id, uint32_t count) {
  const Page* page = page_of(id);
  if (page->used == 0) return size_t{page->slices} << slice_shift;
  size_t around = size_t{count} * (page->block_size + unit);
  size_t idle = idle_in(id);
  return around < idle ? around : idle;
}

size_t idle_parts(const Heap* heap) {
  size_t bytes = 0;
  for (size_t bin = 0; bin < bin_count; ++bin) {
    for (PageId id = heap->queue[bin]; id != 0; id = page_of(id)->next) bytes += idle_in(id);
  }
  return bytes;
}

// Restores as few units as possible, for each costs a page fault now and a call of the system later: from the first one to the
// next that begins with a block and a page of the system.
//
// No block lies in two runs of discarded units: that block alone would cover what is between, which would be discarded too.
void restore_lost(PageId id) {
  Page* page = page_of(id);
  Discarded* discarded = discarded_of(id);
  TP_ASSERT(is_locked(id) && discarded->lost != 0 && discarded->units != 0);
  uint32_t size = page->block_size;
  uint32_t carved_end = page->carved * size;
  Units units = first_run(discarded->units, static_cast<uint32_t>(__builtin_ctzll(discarded->units)));
  uint32_t end = units.first + 1;
  while (end != units.end && (end * unit % size != 0 || end * unit % os::page_size() != 0)) ++end;
  units.end = end;
  uint32_t first = units.first * unit / size;
  uint32_t last = (end * unit < carved_end ? end * unit - 1 : carved_end - 1) / size;
  // From the last to the first, so that the list ascends.
  for (uint32_t i = last + 1; i-- > first;) {
    page->free.push(grid_of(id), static_cast<char*>(address_of(id)) + i * size);
    --discarded->lost;
  }
  discarded->units &= ~units.bits();
  discarded->seen = 0;
  Heap* heap = page->owner.load(std::memory_order_relaxed);
  if (heap->parts_gone_at != 0) note_refault(heap, size_t{unit} * (end - units.first), heap->parts_gone_at);
}

bool discarded_is_valid(PageId id) {
  const Page* page = page_of(id);
  const Discarded* discarded = discarded_of(id);
  if (page->slices > most_slices) return discarded->units == 0 && discarded->lost == 0;
  uint32_t lost = 0;
  for (uint32_t i = 0; i < page->carved; ++i) lost += (units_of(i * page->block_size, page->block_size) & discarded->units) != 0;
  return lost == discarded->lost;
}

void use_units(PageId id, uint32_t from, uint32_t to) {
  if (page_of(id)->slices > most_slices) return;
  Discarded* discarded = discarded_of(id);
  size_t page = os::page_size();
  auto first = static_cast<uint32_t>(from / page * page);
  discarded->units &= ~units_of(first, static_cast<uint32_t>(round_up(to, page)) - first);
  discarded->seen = 0;
}

}  // namespace tp
