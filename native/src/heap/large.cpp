#include "heap/large.h"

#include <string.h>

#include "heap/kept.h"
#include "heap/purge_thread.h"
#include "heap/thread_heap.h"
#include "os/assert.h"
#include "pages/runs.h"
#include "pages/stamp.h"

namespace tp {

namespace {

constexpr uint32_t most_kept_slices = (32u << 20) >> slice_shift;  // of one kept block

void set_up_large(Heap* heap, PageId id, uint32_t slices) {
  Page* page = page_of(id);
  TP_ASSERT(page->is(PageKind::unused));
  page->clear();
  page->owner.store(heap, std::memory_order_relaxed);
  page->capacity = slices;
  page->used = 1;
  page->set_kind(PageKind::large);
  if (!is_explicit(heap)) return;
  LockedHeap locked(heap);
  page->next = heap->large;
  if (heap->large != 0) page_of(heap->large)->prev = id;
  heap->large = id;
}

void return_large_of_explicit(Heap* owner, PageId id, uint32_t slices) {
  Page* page = page_of(id);
  size_t bytes = size_t{slices} << slice_shift;
  IdleSince since = now_stamp();
  {
    LockedHeap locked(owner);
    since.extra_ms = extra_delay_ms(owner);
    if (owner->zero_on_free) memset(address_of(id), 0, bytes);
    if (page->prev != 0) page_of(page->prev)->next = page->next;
    else owner->large = page->next;
    if (page->next != 0) page_of(page->next)->prev = page->prev;
    owner->held_bytes -= bytes;
    page->clear();
  }
  give_run(id, slices, true, since);
}

}  // namespace

void* rent_large(Heap* heap, size_t size, size_t alignment, bool zero) {
  if (size > max_size - slice_size || slices_for(size) > (size_t{1} << slice_bits)) return nullptr;
  auto slices = static_cast<uint32_t>(size != 0 ? slices_for(size) : 1);
  size_t bytes = size_t{slices} << slice_shift;
  Run run{0, false};
  {
    LockedHeap locked(heap);
    if (alignment <= slice_size) run = take_kept_large(heap, slices);
    if (run.id == 0) {
      if (!make_room(heap, bytes)) return nullptr;
      heap->held_bytes += bytes;
    }
  }
  if (run.id == 0) {
    // In huge pages the unused end of a shorter block would be resident.
    constexpr uint32_t dense_from = (2u << 20) >> slice_shift;
    run = take_run(slices, alignment <= slice_size ? 1 : static_cast<uint32_t>(alignment >> slice_shift),
                   slices >= dense_from ? Fill::dense : Fill::sparse);
    if (run.id == 0) {
      heap->held_bytes -= bytes;
      return nullptr;
    }
    if (run.gone_at != 0) {
      LockedHeap locked(heap);
      note_refault(heap, bytes, run.gone_at);
    }
  }
  set_up_large(heap, run.id, slices);
  void* block = address_of(run.id);
  if (zero && !run.zeroed) memset(block, 0, size);
  start_purge_thread_if_worth_it();
  return block;
}

void return_large(Heap* current, PageId id) {
  Page* page = page_of(id);
  Heap* owner = page->owner.load(std::memory_order_relaxed);
  TP_ASSERT(page->is(PageKind::large));
  uint32_t slices = page->run_length();
  size_t bytes = size_t{slices} << slice_shift;
  if (is_explicit(owner)) {
    return_large_of_explicit(owner, id, slices);
  } else {
    bool kept = current != nullptr && slices <= most_kept_slices;
    page->clear();
    if (owner != current || !kept) owner->held_bytes -= bytes;
    if (kept) {
      LockedHeap locked(current);
      if (owner != current) current->held_bytes += bytes;
      keep_large(current, id, slices);
    } else {
      IdleSince since = now_stamp();
      if (current != nullptr) {
        LockedHeap locked(current);
        since.extra_ms = extra_delay_ms(current);
      }
      give_run(id, slices, true, since);
    }
  }
  note_idle_pages(known_heap() != nullptr);
}

void leave_headroom(PageId id, size_t size) {
  Page* page = page_of(id);
  TP_ASSERT(page->is(PageKind::large) && size != 0 && slices_for(size) <= page->run_length());
  LockedHeap locked(page->owner.load(std::memory_order_relaxed));  // tp_heap_usage reads it
  page->set_headroom(page->run_length() - static_cast<uint32_t>(slices_for(size)));
}

bool resize_large(PageId id, size_t size) {
  Page* page = page_of(id);
  Heap* owner = page->owner.load(std::memory_order_relaxed);
  uint32_t slices = page->run_length();
  if (slices_for(size) > (size_t{1} << slice_bits)) return false;
  auto wanted = static_cast<uint32_t>(slices_for(size));
  uint32_t in_use = slices - page->headroom();
  if (wanted == in_use) return true;
  LockedHeap locked(owner);
  if (wanted > in_use && wanted <= slices) {
    page->set_headroom(slices - wanted);
    return true;
  }
  int64_t more = (static_cast<int64_t>(wanted) - slices) * static_cast<int64_t>(slice_size);
  if (more > 0 && !fits_limit(owner, static_cast<size_t>(more))) return false;
  if (wanted < slices && zeroes_what_is_freed(owner)) {
    memset(static_cast<char*>(address_of(id)) + (size_t{wanted} << slice_shift), 0, size_t{slices - wanted} << slice_shift);
  }
  if (!resize_run(id, slices, wanted)) return false;
  page->capacity = wanted;
  page->set_headroom(0);
  owner->held_bytes += static_cast<size_t>(more);
  return true;
}

}  // namespace tp
