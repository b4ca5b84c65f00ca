#include "heap/flush.h"

#include <new>

#include "base/report.h"
#include "heap/discard.h"
#include "heap/purge_thread.h"
#include "heap/refill.h"
#include "os/assert.h"
#include "pages/stamp.h"

namespace tp {

namespace {

// Counts threads that give a block back without a lock; a fork does not wait for them.
std::atomic<uint32_t> returns_under_way{0};

void push_pending(Heap* owner, PageId id) {
  uint32_t head = owner->pending.load(std::memory_order_relaxed);
  do {
    page_of(id)->pending = head;
  } while (!owner->pending.compare_exchange_weak(head, id, std::memory_order_release, std::memory_order_relaxed));
}

// Gives a chain of batches to a page of another heap in one exchange.
void push_remote(PageId id, FreeList blocks, Batch* last, uint32_t count) {
  TP_ASSERT(!blocks.empty() && count != 0);
  Page* page = page_of(id);
  RemoteWord word{page->remote.load(std::memory_order_relaxed)};
  do {
    last->next = word.chain();
  } while (!page->remote.compare_exchange_weak(word.bits, word.pushed(blocks.first, count).bits, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
  if (!word.listed()) push_pending(page->owner.load(std::memory_order_relaxed), id);
  // The page may be another heap's by now, or gone with the blocks.
  if (Heap* owner = page->owner.load(std::memory_order_relaxed); owner != nullptr) note_change(owner);
}

// Reports a pointer that no page gave out. It stays out of every list.
TP_COLD void report_wrong_pointer(const Page* page, void* block) {
  if (slice_of(block) == 0) return report_foreign_pointer(block, "free");
  Text text;
  if (page->is(PageKind::small)) {
    text.add("free of an interior pointer: ").add_address(block).add(" lies inside of a block of ").add(page->block_size).add(" bytes");
    report_misuse(tp_misuse_interior_pointer, block, page->block_size, text.c_str());
  } else {
    text.add("double free: ").add_address(block).add(" was freed twice, its page has been given up since");
    report_misuse(tp_misuse_double_free, block, 0, text.c_str());
  }
}

// Takes blocks back to a page of the heap's own. Its lock is held.
void take_back(Heap* heap, PageId id, Page* page, FreeList list, uint32_t count, uint32_t now) {
  TP_ASSERT(heap->lock.is_held() && page->owner.load(std::memory_order_relaxed) == heap);
  if (TP_UNLIKELY(count > page->used)) {
    report_misuse(tp_misuse_double_free, FreeList::batch_at(reinterpret_cast<uintptr_t>(address_of(id)), list.first),
                  page->block_size, "more blocks came back to a page than it gave out: some were freed twice");
    // When the handler returns, all blocks of the page count as used: none is given out again.
    page->free = {};
    page->used = page->carved;
    return;
  }
  page->free = list;
  page->used -= count;
  page->stamp = now;
  note_idle(heap, idle_after_return(id, count));
  if (page->used == 0 || !RemoteWord{page->remote.load(std::memory_order_relaxed)}.listed()) requeue_page(heap, id);
}

// Opens each page once for many blocks: a page of the heap's own with its free list, another one with a chain that goes to
// its remote word in one exchange. Magazines mix few pages: 8 places are enough.
class OpenPages {
 public:
  OpenPages(Heap* heap, uint32_t now) : heap_(heap), now_(now) {}
  ~OpenPages() {
    for (Place& place : places_) {
      if (place.id != 0) close(place);
    }
  }
  OpenPages(const OpenPages&) = delete;
  OpenPages& operator=(const OpenPages&) = delete;

  // Adds blocks of the first one's page; returns how many. A program that frees in another order than it rented alternates
  // between two pages, so the page before is tried first.
  uint32_t add(void* const* blocks, uint32_t most) {
    Place* place = before_;
    if (place == nullptr || !place->list.covers(blocks[0])) {
      place = find(blocks[0]);
      if (TP_UNLIKELY(place == nullptr)) return 1;
    }
    before_ = recent_ != place ? recent_ : nullptr;
    recent_ = place;
    uint32_t added = place->list.push(blocks, most);
    place->added += added;
    if (TP_UNLIKELY(added == 0)) {
      report_wrong_pointer(page_of(place->id), blocks[0]);
      return 1;
    }
    return added;
  }

 private:
  static constexpr uint32_t count_ = 8;

  // Gives neighbouring pages, of any number of slices, different places (Fibonacci hashing).
  static uint32_t place_of(PageId id) { return (id * 0x9E3779B1u) >> 29; }

  struct Place {
    PageId id = 0;
    uint32_t added;
    bool own;
    union {
      OpenFreeList list;
    };
    void* first;  // the first block added: the last batch of a chain that began empty
    Place() {}
  };

  TP_NOINLINE Place* find(void* block) {
    PageId id = page_with(block);
    Place& place = places_[place_of(id)];
    if (place.id == id) return &place;
    if (place.id != 0) {
      close(place);
      if (recent_ == &place) recent_ = nullptr;
      if (before_ == &place) before_ = nullptr;
    }
    return open(place, id, block) ? &place : nullptr;
  }

  bool open(Place& place, PageId id, void* block) {
    Page* page = page_of(id);
    BlockGrid grid = grid_of(id);
    uintptr_t offset = reinterpret_cast<uintptr_t>(block) - grid.base;
    place.id = 0;
    if (!page->is(PageKind::small) || !is_block_offset(static_cast<uint32_t>(offset), grid.block_size, grid.reciprocal)) {
      report_wrong_pointer(page, block);
      return false;
    }
    place.own = heap_ != nullptr && page->owner.load(std::memory_order_relaxed) == heap_;
    new (&place.list) OpenFreeList(grid, place.own ? page->free : FreeList{});
    place.first = block;
    place.added = 0;
    place.id = id;
    return true;
  }

  void close(Place& place) {
    FreeList list = place.list.close();
    if (place.own) return take_back(heap_, place.id, page_of(place.id), list, place.added, now_);
    push_remote(place.id, list, static_cast<Batch*>(place.first), place.added);
    if (heap_ != nullptr) heap_->remote_frees += place.added;
  }

  Heap* heap_;
  uint32_t now_;
  Place* recent_ = nullptr;
  Place* before_ = nullptr;  // the one that was used before recent_
  Place places_[count_];
};

}  // namespace

void flush(Heap* heap, void* const* blocks, uint32_t count, uint32_t stamp) {
  TP_ASSERT(heap->lock.is_held());
  if (count == 0) return;
  OpenPages pages(heap, stamp);
  for (uint32_t at = 0; at < count;) at += pages.add(blocks + at, count - at);
}

void return_to_page(PageId id, void* block) {
  Page* page = page_of(id);
  Heap* owner = page->owner.load(std::memory_order_relaxed);
  HeapState state = owner->state.load(std::memory_order_relaxed);
  uint32_t block_size = page->block_size;
  if (state == HeapState::thread || state == HeapState::orphan) {
    // The owner of such a page may change at any time; the remote word works for every owner.
    FreeList list;
    list.push(grid_of(id), block);
    returns_under_way.fetch_add(1, std::memory_order_acq_rel);
    push_remote(id, list, static_cast<Batch*>(block), 1);
    returns_under_way.fetch_sub(1, std::memory_order_release);
  } else {
    Locked locked(owner->lock);
    FreeList list = page->free;
    list.push(grid_of(id), block);
    take_back(owner, id, page, list, 1, now_stamp());
  }
  note_idle_pages(may_make_thread_at_free(block_size));
}

bool forget_returns_under_way() { return returns_under_way.exchange(0, std::memory_order_relaxed) != 0; }

}  // namespace tp
