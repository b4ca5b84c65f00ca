#include "pages/arena.h"

#include "api/options.h"
#include "base/report.h"

namespace tp {

// Constants: programs allocate before constructors of this library would run.
constinit Arena arenas[max_arenas]{};
std::atomic<uint32_t> arena_total{0};
std::atomic<size_t> arena_held_slices{0};
Lock purge_lock;
Lock arena_lock;

namespace {

constexpr size_t smallest_arena = size_t{4} << 20;
constexpr size_t first_step = size_t{64} << 20;  // of committing; later steps grow to 1 GiB
constexpr size_t last_step = size_t{1} << 30;
constexpr size_t huge_page = size_t{2} << 20;
constexpr size_t huge_pages_from = size_t{64} << 20;  // automatic huge pages: once so much is in use

// Free runs by the logarithm of their length, doubly linked.
struct RunLists {
  uint32_t head[slice_bits + 1];
  uint32_t filled;  // bit i: head[i] is not 0
};
RunLists lists[2];  // clean, dirty

// What each arena's tables have committed, in bytes from the start of the table.
struct TableEnds {
  size_t pages, discarded, bins;
};
TableEnds table_ends[max_arenas];

size_t being_purged;  // dirty slices in no list: their memory goes at this moment
size_t used_slices, dirty_slices, peak_slices, reserved_slices, purged_slices, meta_bytes;
char* meta_next;
char* meta_end;

uint32_t index_of(PageId id) { return id & ((1u << slice_bits) - 1); }

void link(PageId id, uint32_t length, bool dirty) {
  unsigned bin = log2_floor(length);
  RunLists& l = lists[dirty];
  Page* page = page_of(id);
  page->prev = 0;
  page->next = l.head[bin];
  if (page->next != 0) page_of(page->next)->prev = id;
  l.head[bin] = id;
  l.filled |= 1u << bin;
}

void unlink(PageId id) {
  Page* page = page_of(id);
  unsigned bin = log2_floor(page->run_length());
  RunLists& l = lists[page->dirty()];
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

bool commit_table(void* table, size_t* end, size_t wanted) {
  wanted = round_up(wanted, os::page_size());
  if (wanted <= *end) return true;
  if (!os::commit(static_cast<char*>(table) + *end, wanted - *end)) return false;
  *end = wanted;
  return true;
}

bool commit_slices(uint32_t number, uint32_t slices) {
  Arena& arena = arenas[number];
  TableEnds& ends = table_ends[number];
  size_t upto = size_t{arena.committed} + slices;
  if (!commit_table(arena.pages, &ends.pages, upto * sizeof(Page)) ||
      !commit_table(arena.discarded, &ends.discarded, upto * sizeof(Discarded)) ||
      !commit_table(arena.bins, &ends.bins, upto)) {
    return false;
  }
  char* start = reinterpret_cast<char*>(arena.base) + (size_t{arena.committed} << slice_shift);
  if (!os::commit(start, size_t{slices} << slice_shift)) return false;
  arena.committed.fetch_add(slices, std::memory_order_release);
  return true;
}

// Commits at least so many fresh slices more, a large step if the system lets us.
bool commit_fresh(uint32_t number, uint32_t needed) {
  Arena& arena = arenas[number];
  size_t step = (size_t{arena.committed} << slice_shift) / 2;
  step = step < first_step ? first_step : step > last_step ? last_step : step;
  size_t wanted = step >> slice_shift;
  if (wanted < needed) wanted = needed;
  if (needed > arena.slices - arena.committed) return false;
  if (wanted > arena.slices - arena.committed) wanted = arena.slices - arena.committed;
  return commit_slices(number, static_cast<uint32_t>(wanted)) || (wanted > needed && commit_slices(number, needed));
}

// Where the tables of an arena lie, in bytes from its start, each from a page of the system on; and the slices they take.
struct Tables {
  size_t discarded, bins, slices;
};

Tables tables_of(size_t slices) {
  size_t discarded = round_up(slices * sizeof(Page), os::page_size());
  size_t bins = discarded + round_up(slices * sizeof(Discarded), os::page_size());
  return {discarded, bins, slices_for(bins + slices)};
}

bool add_arena(size_t needed_slices) {
  uint32_t number = arena_total.load(std::memory_order_relaxed);
  if (number == max_arenas) return false;
  size_t length = largest_arena;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  length = size_t{64} << 30;  // their shadow memory leaves no room for more
#endif
  size_t limit = os::address_space_limit();
  while (limit != SIZE_MAX && length > limit / 2) length /= 2;
  void* base = nullptr;
  while (base == nullptr) {
    if (length < smallest_arena) return false;
    if ((length >> slice_shift) < tables_of(length >> slice_shift).slices + needed_slices) return false;
    base = os::reserve(length, huge_page);
    if (base == nullptr) length /= 2;
  }
  const Tables layout = tables_of(length >> slice_shift);
  Arena& arena = arenas[number];
  size_t slices = length >> slice_shift;
  arena.slices = static_cast<uint32_t>(slices);
  arena.pages = static_cast<Page*>(base);
  arena.discarded = reinterpret_cast<Discarded*>(static_cast<char*>(base) + layout.discarded);
  arena.bins = static_cast<uint8_t*>(base) + layout.bins;
  size_t tables = layout.slices;
  arena.fresh = static_cast<uint32_t>(tables);
  arena.committed = static_cast<uint32_t>(tables);
  arena.base = reinterpret_cast<uintptr_t>(base);
  table_ends[number] = {};
  // The fast path looks up any address of the arena, also one that was never handed out.
  os::make_readable(arena.bins, round_up(slices, os::page_size()));
  if (!commit_fresh(number, static_cast<uint32_t>(needed_slices))) {
    os::release(base, length);
    arena.base = 0;
    arena.slices = 0;
    arena.committed = 0;
    return false;
  }
  reserved_slices += slices;
  arena_total.store(number + 1, std::memory_order_release);
  return true;
}

void use_huge_pages(PageId id, uint32_t length) {
  int64_t mode = options::get(tp_option_huge_pages);
  if (mode == 0 || (mode == 1 && (used_slices << slice_shift) < huge_pages_from)) return;
  // Whole huge pages around the run: its neighbours will be used next.
  auto start = reinterpret_cast<uintptr_t>(address_of(id)) & ~(huge_page - 1);
  auto end = round_up(reinterpret_cast<uintptr_t>(address_of(id)) + (uintptr_t{length} << slice_shift), huge_page);
  const Arena& arena = arenas[id >> slice_bits];
  uintptr_t usable = arena.base + (uintptr_t{arena.committed} << slice_shift);
  if (end > usable) end = usable;
  os::prefer_huge_pages(reinterpret_cast<void*>(start), end - start);
}

PageId take_fresh(uint32_t length, uint32_t alignment) {
  for (;;) {
    uint32_t total = arena_total.load(std::memory_order_relaxed);
    for (uint32_t number = 0; number < total; ++number) {
      Arena& arena = arenas[number];
      uint32_t start = arena.fresh;
      uintptr_t address = (arena.base >> slice_shift) + start;
      start += static_cast<uint32_t>((alignment - address % alignment) % alignment);
      if (start > arena.slices || length > arena.slices - start) continue;
      if (start + length > arena.committed && !commit_fresh(number, start + length - arena.committed)) continue;
      PageId base = number << slice_bits;
      uint32_t skipped = start - arena.fresh;
      arena.fresh = start + length;
      if (skipped != 0) give_locked(base + start - skipped, skipped, false, 0);
      use_huge_pages(base + start, length);
      return base + start;
    }
    if (!add_arena(size_t{length} + alignment)) return 0;
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

// What is being purged without the lock has left the lists, and is as good as gone.
bool within_limit(size_t more_slices) {
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

Run take_locked(uint32_t length, uint32_t alignment) {
  if (length == 0 || length > (1u << slice_bits) || alignment > (1u << slice_bits)) return {0, false};
  uint32_t wanted = length + alignment - 1;
  if (PageId found = find(lists[1], wanted); found != 0) {
    PageId id = cut(found, length, alignment);
    count_used(length);
    return {id, false};
  }
  if (!within_limit(length)) return {0, false};
  PageId id = 0;
  if (PageId found = find(lists[0], wanted); found != 0) {
    id = cut(found, length, alignment);
    use_huge_pages(id, length);
  } else {
    id = take_fresh(length, alignment);
  }
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
  for (uint32_t filled = lists[1].filled; filled != 0; filled &= filled - 1) {
    for (PageId id = lists[1].head[__builtin_ctz(filled)], next = 0; id != 0; id = next) {
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
  return count;
}

// What one call gives back.
struct Purge {
  uint32_t now, min_idle_ms;
  size_t keep_slices;
  uint32_t number = next_purge_number();
  size_t given = 0;  // slices
};

// One batch of idle runs goes to the system, without the arena lock if so wished. False: there is no other.
bool purge_batch(Purge& purge, bool unlock_meanwhile) {
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

void purge_locked() {
  Purge purge{.now = now_stamp(), .min_idle_ms = 0, .keep_slices = 0};
  while (purge_batch(purge, false)) {
  }
}

}  // namespace

PageId slice_of_slow(const void* address) {
  auto a = reinterpret_cast<uintptr_t>(address);
  uint32_t total = arena_total.load(std::memory_order_acquire);
  for (uint32_t number = 0; number < total; ++number) {
    uintptr_t offset = a - arenas[number].base;
    if (offset < arenas[number].length()) return (number << slice_bits) | static_cast<uint32_t>(offset >> slice_shift);
  }
  return 0;
}

// The tables' own slices have no page entries.
static bool has_entry(PageId slice) {
  const Arena& arena = arenas[slice >> slice_bits];
  return reinterpret_cast<char*>(address_of(slice)) >= reinterpret_cast<char*>(arena.bins + arena.slices);
}

// The later slices of a large block say nothing of it: only a wrong pointer leads there.
TP_COLD static PageId first_slice_of_large(PageId slice) {
  PageId id = slice;
  while (has_entry(id) && page_of(id)->is(PageKind::unused)) --id;
  return has_entry(id) && page_of(id)->is(PageKind::large) && slice - id < page_of(id)->run_length() ? id : 0;
}

PageId first_slice_of(PageId slice) {
  uint32_t number = slice >> slice_bits;
  if (slice == 0 || index_of(slice) >= arenas[number].committed || !has_entry(slice)) return 0;
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

Run take_run(uint32_t slices, uint32_t alignment) {
  Locked locked(arena_lock);
  return take_locked(slices, alignment);
}

uint32_t take_runs(uint32_t slices, uint32_t count, Run* runs) {
  Locked locked(arena_lock);
  uint32_t taken = 0;
  while (taken < count) {
    runs[taken] = take_locked(slices, 1);
    if (runs[taken].id == 0) break;
    ++taken;
  }
  return taken;
}

void give_run(PageId id, uint32_t slices, bool dirty, uint32_t stamp) {
  constexpr uint32_t most_described = 16;  // slices with entries of their own: small pages have at most so many
  uint32_t described = slices < most_described ? slices : most_described;
  for (uint32_t i = 0; i < described; ++i) {
    page_of(id + i)->clear();
    *bins_of(id + i) = 0;
    *discarded_of(id + i) = {};
  }
  Locked locked(arena_lock);
  used_slices -= slices;
  give_locked(id, slices, dirty, stamp);
}

bool resize_run(PageId id, uint32_t slices, uint32_t new_slices) {
  if (new_slices <= slices) {
    if (new_slices < slices) give_run(id + new_slices, slices - new_slices, true, now_stamp());
    return true;
  }
  uint32_t more = new_slices - slices;
  Locked locked(arena_lock);
  const Arena& arena = arenas[id >> slice_bits];
  if (index_of(id) + slices >= arena.fresh) return false;
  PageId next = id + slices;
  if (!page_of(next)->is(PageKind::free) || page_of(next)->run_length() < more) return false;
  if (!page_of(next)->dirty() && !within_limit(more)) return false;
  // A purge may have changed what is there.
  if (!page_of(next)->is(PageKind::free) || page_of(next)->run_length() < more) return false;
  cut(next, more, 1);
  count_used(more);
  return true;
}

size_t purge_runs(uint32_t now, uint32_t min_idle_ms, size_t keep_bytes) {
  Purge purge{.now = now, .min_idle_ms = min_idle_ms, .keep_slices = keep_bytes >> slice_shift};
  for (bool more = true; more;) {
    Locked purging(purge_lock);
    Locked locked(arena_lock);
    // Under a limit nobody may take memory in place of what has not gone yet.
    more = purge_batch(purge, options::memory_limit() == 0);
  }
  return purge.given << slice_shift;
}

void* allocate_meta(size_t bytes) {
  bytes = round_up(bytes, 64);
  Locked locked(arena_lock);
  if (bytes > static_cast<size_t>(meta_end - meta_next)) {
    Run run = take_locked(static_cast<uint32_t>(slices_for(bytes)), 1);
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
  size_t tables = 0;
  for (uint32_t i = 0; i < arena_total.load(std::memory_order_relaxed); ++i) {
    // Resident at most: the entries of slices that were used.
    size_t entries = arenas[i].fresh - tables_of(arenas[i].slices).slices;
    tables += entries * (sizeof(Page) + sizeof(Discarded) + 1);
  }
  return {used_slices << slice_shift, dirty_slices << slice_shift, peak_slices << slice_shift,
          reserved_slices << slice_shift, meta_bytes + tables, purged_slices << slice_shift};
}

bool arenas_are_valid() {
  Locked locked(arena_lock);
  size_t dirty = 0;
  for (int kind = 0; kind < 2; ++kind) {
    for (unsigned bin = 0; bin <= slice_bits; ++bin) {
      if ((lists[kind].head[bin] != 0) != ((lists[kind].filled >> bin & 1) != 0)) return broken("a filled bin has runs", &lists[kind]);
      PageId before = 0;
      for (PageId id = lists[kind].head[bin]; id != 0; before = id, id = page_of(id)->next) {
        const Page* page = page_of(id);
        const Page* last = page_of(id + page->run_length() - 1);
        if (!page->is(PageKind::free) || page->dirty() != (kind == 1)) return broken("a run is in the list of its kind", address_of(id));
        if (log2_floor(page->run_length()) != bin) return broken("a run is in the bin of its length", address_of(id));
        if (!last->is(PageKind::free) || last->run_length() != page->run_length()) return broken("both ends of a run agree", address_of(id));
        if (page->prev != before) return broken("links of free runs agree", address_of(id));
        if (kind == 1) dirty += page->run_length();
      }
    }
  }
  // Runs that are being purged at this moment count as dirty and are in no list.
  if (dirty > dirty_slices) return broken("dirty slices are counted", nullptr);
  return true;
}

}  // namespace tp
