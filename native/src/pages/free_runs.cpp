#include "pages/free_runs.h"

#include "base/report.h"
#include "os/assert.h"

namespace tp {

RunLists free_runs[2][2];
size_t dirty_slices;

namespace {

void link(PageId id, uint32_t length, bool dirty) {
  TP_ASSERT(arena_lock.is_held() && length != 0);
  unsigned bin = log2_floor(length);
  RunLists& l = free_runs[is_dense(id)][dirty];
  Page* page = page_of(id);
  page->prev = 0;
  page->next = l.head[bin];
  if (page->next != 0) page_of(page->next)->prev = id;
  l.head[bin] = id;
  l.filled |= 1u << bin;
}

void unlink(PageId id) {
  Page* page = page_of(id);
  TP_ASSERT(arena_lock.is_held() && page->is(PageKind::free));
  unsigned bin = log2_floor(page->run_length());
  RunLists& l = free_runs[is_dense(id)][page->dirty()];
  if (page->prev != 0) page_of(page->prev)->next = page->next;
  else l.head[bin] = page->next;
  if (page->next != 0) page_of(page->next)->prev = page->prev;
  if (l.head[bin] == 0) l.filled &= ~(1u << bin);
}

}  // namespace

void insert_run(PageId id, uint32_t length, bool dirty, IdleSince since) {
  Page* ends[2] = {page_of(id), page_of(id + length - 1)};
  for (Page* page : ends) {
    page->set_kind(PageKind::free);
    page->capacity = length;
    page->bin = dirty;
    page->set_idle_since(since);
  }
  link(id, length, dirty);
  if (dirty) dirty_slices += length;
}

uint32_t remove_run(PageId id) {
  uint32_t length = page_of(id)->run_length();
  unlink(id);
  if (page_of(id)->dirty()) dirty_slices -= length;
  page_of(id + length - 1)->clear();
  page_of(id)->clear();
  return length;
}

PageId add_run(PageId id, uint32_t length, bool dirty, IdleSince since) {
  const Arena& arena = arenas[id >> slice_bits];
  uint32_t longest = length;
  auto join = [&](PageId neighbour) {
    Page* page = page_of(neighbour);
    if (page->run_length() > longest) {
      longest = page->run_length();
      since = page->idle_since();
    }
    return remove_run(neighbour);
  };
  if (slice_index(id) + length < arena.fresh) {
    Page* after = page_of(id + length);
    if (after->is(PageKind::free) && after->dirty() == dirty) length += join(id + length);
  }
  Page* before = page_of(id - 1);
  if (before->is(PageKind::free) && before->dirty() == dirty) {
    PageId start = id - before->run_length();
    length += join(start);
    id = start;
  }
  insert_run(id, length, dirty, since);
  return id;
}

PageId find_run(const RunLists& l, uint32_t length) {
  unsigned bin = log2_floor(length);
  PageId best = 0;
  int looked = 0;
  for (PageId id = l.head[bin]; id != 0 && looked < 32; id = page_of(id)->next, ++looked) {
    uint32_t found = page_of(id)->run_length();
    if (found >= length && (best == 0 || found < page_of(best)->run_length())) best = id;
    if (found == length) break;
  }
  if (best != 0) return best;
  uint32_t larger = l.filled & ~((2u << bin) - 1);
  return larger != 0 ? l.head[__builtin_ctz(larger)] : 0;
}

PageId cut_run(PageId found, uint32_t length, uint32_t alignment) {
  bool dirty = page_of(found)->dirty();
  IdleSince since = page_of(found)->idle_since();
  uint32_t whole = remove_run(found);
  uintptr_t address = reinterpret_cast<uintptr_t>(address_of(found)) >> slice_shift;
  uint32_t before = static_cast<uint32_t>((alignment - address % alignment) % alignment);
  if (before != 0) insert_run(found, before, dirty, since);
  uint32_t after = whole - before - length;
  if (after != 0) insert_run(found + before + length, after, dirty, since);
  return found + before;
}

PageId split_run(PageId id, uint32_t first_length) {
  bool dirty = page_of(id)->dirty();
  IdleSince since = page_of(id)->idle_since();
  uint32_t whole = remove_run(id);
  insert_run(id, first_length, dirty, since);
  insert_run(id + first_length, whole - first_length, dirty, since);
  return id + first_length;
}

static bool lists_are_valid(bool dense, bool dirty, size_t* slices) {
  const RunLists& l = free_runs[dense][dirty];
  for (unsigned bin = 0; bin <= slice_bits; ++bin) {
    if ((l.head[bin] != 0) != ((l.filled >> bin & 1) != 0)) return broken("a filled bin has runs", &l);
    PageId before = 0;
    for (PageId id = l.head[bin]; id != 0; before = id, id = page_of(id)->next) {
      const Page* page = page_of(id);
      const Page* last = page_of(id + page->run_length() - 1);
      if (!page->is(PageKind::free) || page->dirty() != dirty) return broken("a run is in the list of its kind", address_of(id));
      if (is_dense(id) != dense) return broken("a run is in the list of its arena", address_of(id));
      uint32_t end = slice_index(id) + page->run_length();
      if (end > arenas[id >> slice_bits].fresh) return broken("a free run was used before", address_of(id));
      if (log2_floor(page->run_length()) != bin) return broken("a run is in the bin of its length", address_of(id));
      if (!last->is(PageKind::free) || last->run_length() != page->run_length()) return broken("both ends of a run agree", address_of(id));
      if (page->prev != before) return broken("links of free runs agree", address_of(id));
      *slices += page->run_length();
    }
  }
  return true;
}

bool free_runs_are_valid() {
  size_t dirty = 0, clean = 0;
  for (bool dense : {false, true}) {
    if (!lists_are_valid(dense, false, &clean) || !lists_are_valid(dense, true, &dirty)) return false;
  }
  // Runs that are being purged at this moment count as dirty and are in no list.
  if (dirty > dirty_slices) return broken("dirty slices are counted", nullptr);
  return true;
}

}  // namespace tp
