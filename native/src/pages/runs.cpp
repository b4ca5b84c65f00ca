#include "pages/runs.h"

#include "base/options.h"
#include "os/assert.h"
#include "pages/free_runs.h"
#include "pages/growth.h"
#include "pages/purge_runs.h"
#include "pages/stamp.h"

namespace tp {

std::atomic<size_t> arena_held_slices{0};

namespace {

constexpr size_t huge_pages_from = size_t{64} << 20;  // automatic huge pages: once so much is in use

size_t used_slices, peak_slices, meta_bytes;
char* meta_next;
char* meta_end;

// Goes on behind a gap. The slices in front of it that were never used become a free run.
void go_on_behind_gap(uint32_t number, uint32_t end, uint32_t next) {
  Arena& arena = arenas[number];
  if (end != arena.fresh) add_run((number << slice_bits) + arena.fresh, end - arena.fresh, false, 0);
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
      if (skipped != 0) add_run(base + start - skipped, skipped, false, 0);
      return base + start;
    }
    uint32_t next = 0;
    Growth growth = grow(number, arena.fresh + skipped + length - end, &next);
    if (growth == Growth::no_space || growth == Growth::no_memory) return 0;
    if (growth == Growth::in_place) continue;
    go_on_behind_gap(number, end, next);
  }
}

// True when so many slices more stay within the memory limit, if need be after a purge. Slices that are being purged without the
// lock count as gone.
bool within_limit(size_t more_slices) {
  TP_ASSERT(arena_lock.is_held());
  size_t limit = options::memory_limit();
  if (limit == 0) return true;
  size_t limit_slices = limit >> slice_shift;
  if (used_slices + dirty_slices - slices_being_purged() + more_slices <= limit_slices) return true;
  if (used_slices + more_slices > limit_slices) return false;
  purge_runs_locked();
  return used_slices + dirty_slices - slices_being_purged() + more_slices <= limit_slices;
}

void count_used(uint32_t length) {
  used_slices += length;
  note_held_slices();
  if (used_slices + dirty_slices > peak_slices) peak_slices = used_slices + dirty_slices;
}

// Memory that reads as zero: of the arena itself, of one like it.
Run take_zeroed(bool dense, uint32_t length, uint32_t alignment) {
  if (PageId found = find_run(free_runs[dense][0], length + alignment - 1); found != 0) {
    uint32_t gone_at = page_of(found)->stamp;
    return {cut_run(found, length, alignment), true, gone_at};
  }
  uint32_t total = arena_total.load(std::memory_order_relaxed);
  if (dense) return {dense_arena < total ? take_fresh(dense_arena, length, alignment) : 0, true};
  for (uint32_t number = 0; number < total; ++number) {
    if (number == dense_arena) continue;
    if (PageId id = take_fresh(number, length, alignment); id != 0) return {id, true};
  }
  return {0, true};
}

Run take_zeroed_anywhere(bool dense, uint32_t length, uint32_t alignment) {
  if (arena_total.load(std::memory_order_relaxed) == 0 && !open_window()) return {0, true};
  for (bool kind : {dense, !dense}) {
    if (Run run = take_zeroed(kind, length, alignment); run.id != 0) return run;
  }
  if (!open_further_arena(size_t{length} + alignment)) return {0, true};
  return {take_fresh(arena_total.load(std::memory_order_relaxed) - 1, length, alignment), true};
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
    PageId found = find_run(free_runs[kind][1], wanted);
    if (found == 0) continue;
    PageId id = cut_run(found, length, alignment);
    count_used(length);
    return {id, false};
  }
  if (!within_limit(length)) return {0, false};
  Run run = take_zeroed_anywhere(dense, length, alignment);
  if (run.id != 0) count_used(length);
  return run;
}

// True when the slices from id on are free, whether they were used before or not; clean: how many have no memory.
bool are_free(PageId id, uint32_t length, uint32_t* clean) {
  const Arena& arena = arenas[id >> slice_bits];
  *clean = 0;
  for (uint32_t seen = 0; seen < length;) {
    uint32_t left = length - seen;
    if (slice_index(id) + seen == arena.fresh) {
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
  uint32_t needed = slice_index(end - 1) + 1;
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
    if (slice_index(id) + seen == arena.fresh) {
      arena.fresh += part;
    } else {
      const Page* page = page_of(id + seen);
      if (page->run_length() < part) part = page->run_length();
      cut_run(id + seen, part, 1);
    }
    seen += part;
  }
}

}  // namespace

void note_held_slices() { arena_held_slices.store(used_slices + dirty_slices, std::memory_order_relaxed); }

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

void give_run(PageId id, uint32_t slices, bool dirty, IdleSince since) {
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
  add_run(id, slices, dirty, since);
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
          slices_purged() << slice_shift};
}

bool arenas_are_valid() {
  Locked locked(arena_lock);
  for (uint32_t i = 0; i < arena_total.load(std::memory_order_relaxed); ++i) {
    if (!growth_is_valid(i)) return false;
  }
  return free_runs_are_valid();
}

}  // namespace tp
