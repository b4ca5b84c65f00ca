#include "pages/arena.h"

#include "base/options.h"
#include "base/report.h"
#include "os/assert.h"
#include "pages/growth.h"

namespace tp {

// Constants: programs allocate before constructors of this library would run.
constinit Arena arenas[max_arenas]{};
uintptr_t window_length = 0;
std::atomic<uint32_t> arena_total{0};
std::atomic<size_t> arena_held_slices{0};
Lock purge_lock;
Lock arena_lock;

namespace {

constexpr size_t huge_pages_from = size_t{64} << 20;  // automatic huge pages: once so much is in use

// Free runs by the logarithm of their length, doubly linked.
struct RunLists {
  uint32_t head[slice_bits + 1];
  uint32_t filled;  // bit i: head[i] is not 0
};
RunLists lists[2][2];  // of the dense arena and the others; clean, dirty

size_t being_purged;  // dirty slices in no list: their memory goes at this moment
size_t used_slices, dirty_slices, peak_slices, purged_slices, meta_bytes;
char* meta_next;
char* meta_end;

uint32_t index_of(PageId id) { return id & ((1u << slice_bits) - 1); }

bool is_dense(PageId id) { return id >> slice_bits == dense_arena; }

void link(PageId id, uint32_t length, bool dirty) {
  TP_ASSERT(arena_lock.is_held() && length != 0);
  unsigned bin = log2_floor(length);
  RunLists& l = lists[is_dense(id)][dirty];
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
  RunLists& l = lists[is_dense(id)][page->dirty()];
  if (page->prev != 0) page_of(page->prev)->next = page->next;
  else l.head[bin] = page->next;
  if (page->next != 0) page_of(page->next)->prev = page->prev;
  if (l.head[bin] == 0) l.filled &= ~(1u << bin);
}

void insert(PageId id, uint32_t length, bool dirty, uint32_t stamp) {
  Page* ends[2] = {page_of(id), page_of(id + length - 1)};
  for (Page* page : ends) {
    page->set_kind(PageKind::free);
    page->capacity = length;
    page->bin = dirty;
    page->stamp = stamp;
  }
  link(id, length, dirty);
  if (dirty) dirty_slices += length;
}

// Takes a free run out of its list; its entries are as never used afterwards.
uint32_t remove(PageId id) {
  uint32_t length = page_of(id)->run_length();
  unlink(id);
  if (page_of(id)->dirty()) dirty_slices -= length;
  page_of(id + length - 1)->clear();
  page_of(id)->clear();
  return length;
}

// Joins the run with free neighbours of its kind. The stamp of the longest part holds for all. Returns the whole run.
PageId give_locked(PageId id, uint32_t length, bool dirty, uint32_t stamp) {
  const Arena& arena = arenas[id >> slice_bits];
  uint32_t longest = length;
  auto join = [&](PageId neighbour) {
    Page* page = page_of(neighbour);
    if (page->run_length() > longest) {
      longest = page->run_length();
      stamp = page->stamp;
    }
    return remove(neighbour);
  };
  if (index_of(id) + length < arena.fresh) {
    Page* after = page_of(id + length);
    if (after->is(PageKind::free) && after->dirty() == dirty) length += join(id + length);
  }
  Page* before = page_of(id - 1);
  if (before->is(PageKind::free) && before->dirty() == dirty) {
    PageId start = id - before->run_length();
    length += join(start);
    id = start;
  }
  insert(id, length, dirty, stamp);
  return id;
}

// A free run of at least length slices, best fit among the first few; 0: none.
PageId find(const RunLists& l, uint32_t length) {
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

// Goes on behind a gap. The slices in front of it that were never used become a free run.
void go_on_behind_gap(uint32_t number, uint32_t end, uint32_t next) {
  Arena& arena = arenas[number];
  if (end != arena.fresh) give_locked((number << slice_bits) + arena.fresh, end - arena.fresh, false, 0);
  arena.fresh = next;
}

// A run of the arena that was never used; 0: none to be had.
PageId take_fresh(uint32_t number, uint32_t length, uint32_t alignment) {
  Arena& arena = arenas[number];
  PageId base = number << slice_bits;
  for (;;) {
    uint32_t end = arena.committed.load(std::memory_order_relaxed);
    uintptr_t address = (arena.base >> slice_shift) + arena.fresh;
    uint32_t skipped = static_cast<uint32_t>((alignment - address % alignment) % alignment);
    if (arena.fresh + skipped + length <= end) {
      uint32_t start = arena.fresh + skipped;
      arena.fresh = start + length;
      if (skipped != 0) give_locked(base + start - skipped, skipped, false, 0);
      return base + start;
    }
    uint32_t next = 0;
    Growth growth = grow(number, arena.fresh + skipped + length - end, &next);
    if (growth == Growth::no_space || growth == Growth::no_memory) return 0;
    if (growth == Growth::in_place) continue;
    go_on_behind_gap(number, end, next);
  }
}

// The part of a free run that is asked for; the rest stays free.
PageId cut(PageId found, uint32_t length, uint32_t alignment) {
  bool dirty = page_of(found)->dirty();
  uint32_t stamp = page_of(found)->stamp;
  uint32_t whole = remove(found);
  uintptr_t address = reinterpret_cast<uintptr_t>(address_of(found)) >> slice_shift;
  uint32_t before = static_cast<uint32_t>((alignment - address % alignment) % alignment);
  if (before != 0) insert(found, before, dirty, stamp);
  uint32_t after = whole - before - length;
  if (after != 0) insert(found + before + length, after, dirty, stamp);
  return found + before;
}

void purge_locked();

// True when so many slices more stay within the memory limit, if need be after a purge. Slices that are being purged without the
// lock count as gone.
bool within_limit(size_t more_slices) {
  TP_ASSERT(arena_lock.is_held());
  size_t limit = options::memory_limit();
  if (limit == 0) return true;
  size_t limit_slices = limit >> slice_shift;
  if (used_slices + dirty_slices - being_purged + more_slices <= limit_slices) return true;
  if (used_slices + more_slices > limit_slices) return false;
  purge_locked();
  return used_slices + dirty_slices - being_purged + more_slices <= limit_slices;
}

void count_used(uint32_t length) {
  used_slices += length;
  arena_held_slices.store(used_slices + dirty_slices, std::memory_order_relaxed);
  if (used_slices + dirty_slices > peak_slices) peak_slices = used_slices + dirty_slices;
}

// Memory that reads as zero: of the arena itself, of one like it.
PageId take_zeroed(bool dense, uint32_t length, uint32_t alignment) {
  if (PageId found = find(lists[dense][0], length + alignment - 1); found != 0) return cut(found, length, alignment);
  uint32_t total = arena_total.load(std::memory_order_relaxed);
  if (dense) return dense_arena < total ? take_fresh(dense_arena, length, alignment) : 0;
  for (uint32_t number = 0; number < total; ++number) {
    if (number == dense_arena) continue;
    if (PageId id = take_fresh(number, length, alignment); id != 0) return id;
  }
  return 0;
}

PageId take_zeroed_anywhere(bool dense, uint32_t length, uint32_t alignment) {
  if (arena_total.load(std::memory_order_relaxed) == 0 && !open_window()) return 0;
  for (bool kind : {dense, !dense}) {
    if (PageId id = take_zeroed(kind, length, alignment); id != 0) return id;
  }
  if (!open_further_arena(size_t{length} + alignment)) return 0;
  return take_fresh(arena_total.load(std::memory_order_relaxed) - 1, length, alignment);
}

// Small programs have no use for huge pages.
bool wants_huge_pages(Fill fill) {
  return fill == Fill::dense && options::get(tp_option_huge_pages) == 1 && used_slices << slice_shift >= huge_pages_from;
}

Run take_locked(uint32_t length, uint32_t alignment, Fill fill) {
  TP_ASSERT(arena_lock.is_held());
  if (length == 0 || length > (1u << slice_bits) || alignment > (1u << slice_bits)) return {0, false};
  uint32_t wanted = length + alignment - 1;
  bool dense = wants_huge_pages(fill);
  // Dirty runs of either arena come first: they are resident.
  for (bool kind : {dense, !dense}) {
    PageId found = find(lists[kind][1], wanted);
    if (found == 0) continue;
    PageId id = cut(found, length, alignment);
    count_used(length);
    return {id, false};
  }
  if (!within_limit(length)) return {0, false};
  PageId id = take_zeroed_anywhere(dense, length, alignment);
  if (id != 0) count_used(length);
  return {id, true};
}

// Makes two free runs of one; returns the second.
PageId split(PageId id, uint32_t first_length) {
  bool dirty = page_of(id)->dirty();
  uint32_t stamp = page_of(id)->stamp;
  uint32_t whole = remove(id);
  insert(id, first_length, dirty, stamp);
  insert(id + first_length, whole - first_length, dirty, stamp);
  return id + first_length;
}

uint32_t next_purge_number() {
  static std::atomic<uint32_t> last{0};
  uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number != 0 ? number : next_purge_number();  // 0: never refused
}

struct IdleRun {
  PageId id;
  uint32_t length, stamp;
  bool gone;
};
constexpr uint32_t most_idle_runs = 64;

// Dirty runs that are old enough, out of their lists and of at most so many slices together; returns how many. Many at a
// time, for each call looks at all those that are too young.
//
// The system refuses memory that the program has locked. Such runs are marked with the number of the purge, which leaves them
// alone from then on.
uint32_t take_idle(uint32_t now, uint32_t min_idle_ms, size_t most_slices, uint32_t number, IdleRun* runs) {
  uint32_t count = 0;
  for (const RunLists (&kind)[2] : lists) {
    for (uint32_t filled = kind[1].filled; filled != 0; filled &= filled - 1) {
      for (PageId id = kind[1].head[__builtin_ctz(filled)], next = 0; id != 0; id = next) {
        if (count == most_idle_runs || most_slices == 0) return count;
        next = page_of(id)->next;
        if (!is_idle(now, page_of(id)->stamp, min_idle_ms) || page_of(id)->refused_in() == number) continue;
        // Of the last run only what is beyond the part to keep.
        uint32_t length = page_of(id)->run_length();
        if (length > most_slices) id = split(id, length - static_cast<uint32_t>(most_slices));
        uint32_t stamp = page_of(id)->stamp;
        length = remove(id);
        most_slices -= length;
        runs[count++] = {id, length, stamp, false};
      }
    }
  }
  return count;
}

// One call of purge_runs.
struct Purge {
  uint32_t now, min_idle_ms;
  size_t keep_slices;
  uint32_t number = next_purge_number();
  size_t given = 0;  // slices
};

// One batch of idle runs goes to the system, without the arena lock if so wished. False: there is no other.
bool purge_batch(Purge& purge, bool unlock_meanwhile) {
  TP_ASSERT(arena_lock.is_held());
  if (dirty_slices <= purge.keep_slices) return false;
  IdleRun runs[most_idle_runs];
  uint32_t count = take_idle(purge.now, purge.min_idle_ms, dirty_slices - purge.keep_slices, purge.number, runs);
  size_t slices = 0, given = 0;
  for (uint32_t i = 0; i < count; ++i) slices += runs[i].length;
  dirty_slices += slices;  // until it is done
  being_purged += slices;
  if (unlock_meanwhile) arena_lock.unlock();
  for (uint32_t i = 0; i < count; ++i) runs[i].gone = os::discard(address_of(runs[i].id), size_t{runs[i].length} << slice_shift);
  if (unlock_meanwhile) arena_lock.lock();
  dirty_slices -= slices;
  being_purged -= slices;
  for (uint32_t i = 0; i < count; ++i) {
    const IdleRun& run = runs[i];
    PageId whole = give_locked(run.id, run.length, !run.gone, run.gone ? purge.now : run.stamp);
    if (run.gone) given += run.length;
    else page_of(whole)->set_refused_in(purge.number);
  }
  purged_slices += given;
  purge.given += given;
  arena_held_slices.store(used_slices + dirty_slices, std::memory_order_relaxed);
  return count != 0;
}

// True when the slices from id on are free, whether they were used before or not; clean: how many have no memory.
bool are_free(PageId id, uint32_t length, uint32_t* clean) {
  const Arena& arena = arenas[id >> slice_bits];
  *clean = 0;
  for (uint32_t seen = 0; seen < length;) {
    uint32_t left = length - seen;
    if (index_of(id) + seen == arena.fresh) {
      *clean += left;
      return left <= arena.slices - arena.fresh;
    }
    const Page* page = page_of(id + seen);
    if (!page->is(PageKind::free)) return false;
    uint32_t part = page->run_length() < left ? page->run_length() : left;
    if (!page->dirty()) *clean += part;
    seen += part;
  }
  return true;
}

// Makes slices up to end usable. False: there is no memory, or a mapping of the program is in the way.
bool commit_upto(PageId end) {
  uint32_t number = (end - 1) >> slice_bits;
  Arena& arena = arenas[number];
  uint32_t needed = index_of(end - 1) + 1;
  uint32_t committed = arena.committed.load(std::memory_order_relaxed);
  if (needed <= committed) return true;
  uint32_t next = 0;
  Growth growth = grow(number, needed - committed, &next);
  if (growth == Growth::behind_a_gap) go_on_behind_gap(number, committed, next);
  return growth == Growth::in_place;
}

// Takes slices that are free and usable.
void take_free(PageId id, uint32_t length) {
  Arena& arena = arenas[id >> slice_bits];
  for (uint32_t seen = 0; seen < length;) {
    uint32_t part = length - seen;
    if (index_of(id) + seen == arena.fresh) {
      arena.fresh += part;
    } else {
      const Page* page = page_of(id + seen);
      if (page->run_length() < part) part = page->run_length();
      cut(id + seen, part, 1);
    }
    seen += part;
  }
}

void purge_locked() {
  Purge purge{.now = now_stamp(), .min_idle_ms = 0, .keep_slices = 0};
  while (purge_batch(purge, false)) {
  }
}

}  // namespace

bool has_huge_pages(uint32_t number) {
  int64_t mode = options::get(tp_option_huge_pages);
  return mode == 2 || (mode == 1 && number == dense_arena);
}

PageId slice_of_slow(const void* address) {
  uint32_t total = arena_total.load(std::memory_order_acquire);
  for (uint32_t number = 0; number < total; ++number) {
    uint32_t slice = arenas[number].slice_at(reinterpret_cast<uintptr_t>(address));
    if (slice != 0) return (number << slice_bits) | slice;
  }
  return 0;
}

// The tables' own slices have no page entries.
static bool has_entry(PageId slice) { return index_of(slice) >= arenas[slice >> slice_bits].first; }

// The later slices of a large block say nothing of it: only a wrong pointer leads there.
TP_COLD static PageId first_slice_of_large(PageId slice) {
  PageId id = slice;
  while (has_entry(id) && page_of(id)->is(PageKind::unused)) --id;
  return has_entry(id) && page_of(id)->is(PageKind::large) && slice - id < page_of(id)->run_length() ? id : 0;
}

PageId first_slice_of(PageId slice) {
  if (slice == 0) return 0;
  switch (page_of(slice)->kind.load(std::memory_order_relaxed)) {
    case PageKind::small:
    case PageKind::large:
      return slice;
    case PageKind::inner:
      return slice - page_of(slice)->first;
    case PageKind::unused:
      return first_slice_of_large(slice);
    case PageKind::free:
    case PageKind::meta:
      break;
  }
  return 0;
}

Run take_run(uint32_t slices, uint32_t alignment, Fill fill) {
  Locked locked(arena_lock);
  return take_locked(slices, alignment, fill);
}

uint32_t take_runs(uint32_t slices, uint32_t count, Run* runs, Fill fill) {
  Locked locked(arena_lock);
  uint32_t taken = 0;
  while (taken < count) {
    runs[taken] = take_locked(slices, 1, fill);
    if (runs[taken].id == 0) break;
    ++taken;
  }
  return taken;
}

void give_run(PageId id, uint32_t slices, bool dirty, uint32_t stamp) {
  TP_ASSERT(slices != 0 && !page_of(id)->is(PageKind::free));
  constexpr uint32_t most_described = 16;  // slices with entries of their own: small pages have at most so many
  uint32_t described = slices < most_described ? slices : most_described;
  for (uint32_t i = 0; i < described; ++i) {
    page_of(id + i)->clear();
    *bins_of(id + i) = 0;
    *discarded_of(id + i) = {};
  }
  Locked locked(arena_lock);
  TP_ASSERT(used_slices >= slices);
  used_slices -= slices;
  give_locked(id, slices, dirty, stamp);
}

bool resize_run(PageId id, uint32_t slices, uint32_t new_slices) {
  if (new_slices <= slices) {
    if (new_slices < slices) give_run(id + new_slices, slices - new_slices, true, now_stamp());
    return true;
  }
  uint32_t more = new_slices - slices;
  PageId next = id + slices;
  uint32_t clean = 0;
  Locked locked(arena_lock);
  if (!are_free(next, more, &clean)) return false;
  // Dirty slices count already. A purge to stay within the limit makes them clean.
  if (clean != 0 && !(within_limit(clean) && are_free(next, more, &clean) && within_limit(clean))) return false;
  if (!commit_upto(next + more)) return false;
  take_free(next, more);
  count_used(more);
  return true;
}

size_t purge_runs(uint32_t now, uint32_t min_idle_ms, size_t keep_bytes) {
  Purge purge{.now = now, .min_idle_ms = min_idle_ms, .keep_slices = keep_bytes >> slice_shift};
  for (bool more = true; more;) {
    Locked purging(purge_lock);
    Locked locked(arena_lock);
    // Under a limit the lock stays: no other thread may take memory in place of what has not gone yet.
    more = purge_batch(purge, options::memory_limit() == 0);
  }
  return purge.given << slice_shift;
}

void* allocate_meta(size_t bytes) {
  bytes = round_up(bytes, 64);
  Locked locked(arena_lock);
  if (bytes > static_cast<size_t>(meta_end - meta_next)) {
    Run run = take_locked(static_cast<uint32_t>(slices_for(bytes)), 1, Fill::sparse);
    if (run.id == 0) return nullptr;
    // Locked memory cannot be discarded.
    if (!run.zeroed && !os::discard(address_of(run.id), slices_for(bytes) << slice_shift)) {
      __builtin_memset(address_of(run.id), 0, slices_for(bytes) << slice_shift);
    }
    page_of(run.id)->set_kind(PageKind::meta);
    meta_next = static_cast<char*>(address_of(run.id));
    meta_end = meta_next + (slices_for(bytes) << slice_shift);
  }
  void* block = meta_next;
  meta_next += bytes;
  meta_bytes += bytes;
  return block;
}

ArenaUsage arena_usage() {
  Locked locked(arena_lock);
  size_t tables = 0, mapped = 0;
  for (uint32_t i = 0; i < arena_total.load(std::memory_order_relaxed); ++i) {
    // Resident at most: the entries of slices that were used.
    size_t entries = arenas[i].fresh - arenas[i].first;
    tables += entries * (sizeof(Page) + sizeof(Discarded) + 1);
    mapped += mapped_bytes(i);
  }
  return {used_slices << slice_shift, dirty_slices << slice_shift, peak_slices << slice_shift, mapped, meta_bytes + tables,
          purged_slices << slice_shift};
}

static bool lists_are_valid(bool dense, bool dirty, size_t* slices) {
  const RunLists& l = lists[dense][dirty];
  for (unsigned bin = 0; bin <= slice_bits; ++bin) {
    if ((l.head[bin] != 0) != ((l.filled >> bin & 1) != 0)) return broken("a filled bin has runs", &l);
    PageId before = 0;
    for (PageId id = l.head[bin]; id != 0; before = id, id = page_of(id)->next) {
      const Page* page = page_of(id);
      const Page* last = page_of(id + page->run_length() - 1);
      if (!page->is(PageKind::free) || page->dirty() != dirty) return broken("a run is in the list of its kind", address_of(id));
      if (is_dense(id) != dense) return broken("a run is in the list of its arena", address_of(id));
      if (index_of(id) + page->run_length() > arenas[id >> slice_bits].fresh) return broken("a free run was used before", address_of(id));
      if (log2_floor(page->run_length()) != bin) return broken("a run is in the bin of its length", address_of(id));
      if (!last->is(PageKind::free) || last->run_length() != page->run_length()) return broken("both ends of a run agree", address_of(id));
      if (page->prev != before) return broken("links of free runs agree", address_of(id));
      *slices += page->run_length();
    }
  }
  return true;
}

bool arenas_are_valid() {
  Locked locked(arena_lock);
  for (uint32_t i = 0; i < arena_total.load(std::memory_order_relaxed); ++i) {
    if (!growth_is_valid(i)) return false;
  }
  size_t dirty = 0, clean = 0;
  for (bool dense : {false, true}) {
    if (!lists_are_valid(dense, false, &clean) || !lists_are_valid(dense, true, &dirty)) return false;
  }
  // Runs that are being purged at this moment count as dirty and are in no list.
  if (dirty > dirty_slices) return broken("dirty slices are counted", nullptr);
  return true;
}

}  // namespace tp
