#include "heap/heap.h"

#include "base/options.h"
#include "base/report.h"
#include "heap/discard.h"
#include "heap/purge_thread.h"
#include "os/assert.h"
#include "pages/stamp.h"

namespace tp {

bool zeroes_what_is_freed(const Heap* heap) { return heap->zero_on_free || options::get(tp_option_zero_on_free) != 0; }

// -1 in the option: nothing goes back for being idle.
static uint32_t first_delay_ms() {
  int64_t delay = options::purge_delay_ms();
  return delay < 0 ? 0 : static_cast<uint32_t>(delay);
}

void note_refault(Heap* heap, size_t bytes, uint32_t gone_at) {
  TP_ASSERT(heap->lock.is_held());
  if (heap->purge_delay.note_refault(bytes, gone_at, now_stamp(), first_delay_ms())) note_learned_delay();
}

uint32_t extra_delay_ms(const Heap* heap) {
  TP_ASSERT(heap->lock.is_held());
  if (heap->purge_delay.is_first()) return 0;
  uint32_t first = first_delay_ms();  // once: it may change at any time
  return heap->purge_delay.at(now_stamp(), first) - first;
}

// The blocks of the page's free list lie on its grid, and add up with all others.
static bool blocks_are_valid(PageId id) {
  const Page* page = page_of(id);
  auto base = reinterpret_cast<uintptr_t>(address_of(id));
  uint32_t length = 0;
  bool in_place = true;
  page->free.for_each(base, [&](void* block) {
    uintptr_t offset = reinterpret_cast<uintptr_t>(block) - base;
    in_place = in_place && offset < size_t{page->carved} * page->block_size &&
               is_block_offset(static_cast<uint32_t>(offset), page->block_size, page->reciprocal);
    ++length;
  });
  if (!in_place) return broken("free blocks lie in their page", address_of(id));
  if (length + page->used + discarded_of(id)->lost != page->carved) return broken("carved = used + free + lost", address_of(id));
  if (!discarded_is_valid(id)) return broken("lost blocks lie in units that are gone", address_of(id));
  return true;
}

static bool page_is_valid(const Heap* heap, PageId id, size_t bin, PageId before, bool is_full) {
  const Page* page = page_of(id);
  RemoteWord word{page->remote.load(std::memory_order_acquire)};
  if (!page->is(PageKind::small)) return broken("a queued page is a page of blocks", address_of(id));
  if (page->owner.load(std::memory_order_relaxed) != heap) return broken("a queued page belongs to the heap", address_of(id));
  if (page->bin != bin || page->prev != before) return broken("a page is linked in the queue of its bin", address_of(id));
  if (!word.is_valid()) return broken("the remote word is one of its states", address_of(id));
  if (!is_full && !word.listed()) return broken("a queued page is listed", address_of(id));
  if (page->carved > page->capacity || word.count() > page->used) return broken("block counts are in order", address_of(id));
  return blocks_are_valid(id);
}

bool heap_is_valid(const Heap* heap) {
  if (!depot_is_valid(heap)) return false;
  for (size_t bin = 0; bin < bin_count; ++bin) {
    for (bool is_full : {false, true}) {
      PageId before = 0;
      for (PageId id = is_full ? heap->full[bin] : heap->queue[bin]; id != 0; before = id, id = page_of(id)->next) {
        if (!page_is_valid(heap, id, bin, before, is_full)) return false;
      }
    }
  }
  return true;
}

}  // namespace tp
