#include "pages/growth.h"

#include "base/report.h"
#include "os/assert.h"

namespace tp {

namespace {

constexpr size_t huge_page = size_t{2} << 20;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr size_t largest_window = size_t{64} << 30;  // their shadow memory leaves no room for more
#else
constexpr size_t largest_window = largest_arena;
#endif
constexpr size_t smallest_window = size_t{8} << 30;  // each half of its bins ends with a page of the system
constexpr size_t least_step = size_t{16} << 20;  // of mapping; later steps grow to 1 GiB
constexpr size_t most_step = size_t{1} << 30;
constexpr size_t table_step = slice_size;

// Where the tables of an arena end that are mapped by now, in bytes from the start of each.
struct TableEnds {
  size_t pages, discarded, bins;
};
TableEnds table_ends[max_arenas];

// Where the tables of an arena lie, in bytes from its start, and the slices they take. Memory of blocks begins with a huge
// page of its own.
struct Tables {
  size_t discarded, bins, slices;
};

Tables tables_of(size_t slices, size_t bins) {
  size_t discarded = round_up(slices * sizeof(Page), table_step);
  size_t first_bin = discarded + round_up(slices * sizeof(Discarded), table_step);
  return {discarded, first_bin, round_up(first_bin + bins, huge_page) >> slice_shift};
}

// A limited process has other uses for address space, too.
size_t limited_step(size_t step) {
  size_t limit = os::mapping_limit();
  if (limit != SIZE_MAX && step > limit / 64) step = limit / 64;
  return step < slice_size ? slice_size : step;
}

void set_up(uint32_t number, uintptr_t base, size_t slices, const Tables& tables, uint8_t* bins) {
  Arena& arena = arenas[number];
  arena.pages = reinterpret_cast<Page*>(base);
  arena.discarded = reinterpret_cast<Discarded*>(base + tables.discarded);
  arena.bins = bins;
  arena.slices = static_cast<uint32_t>(slices);
  arena.first = arena.fresh = static_cast<uint32_t>(tables.slices);
  arena.committed.store(arena.first, std::memory_order_relaxed);
  arena.base = base;
  table_ends[number] = {};
}

// Maps the bins of a window, which shows that it is free: they lie in front, and nothing behind them is needed yet.
os::Mapped map_bins(uintptr_t base, const Tables& tables, size_t bytes) {
  return os::map_at(reinterpret_cast<void*>(base + tables.bins), round_up(bytes, table_step), os::Access::read);
}

// Finds a place for a window of so many bytes, and maps its bins. 0: there is none.
uintptr_t place_window(size_t length, const Tables& tables, size_t bins, bool* no_memory) {
  auto place = reinterpret_cast<uintptr_t>(os::likely_place()) & ~(huge_page - 1);
  constexpr uintptr_t most = 8;
  // Below the program's mappings, which come nearer from above. Else far above them: they come nearer from below.
  for (uintptr_t i = 1; i <= most; ++i) {
    if (place / i <= length) break;
    os::Mapped mapped = map_bins(place - i * length, tables, bins);
    if (mapped == os::Mapped::yes) return place - i * length;
    if (mapped == os::Mapped::no_memory) {
      *no_memory = true;
      return 0;
    }
  }
  for (uintptr_t i = 1; i <= most; ++i) {
    uintptr_t above = place + i * (size_t{64} << 30);
    if (map_bins(above, tables, bins) == os::Mapped::yes) return above;
  }
  return 0;
}

os::Mapped map_table(void* table, size_t* end, size_t wanted) {
  wanted = round_up(wanted, table_step);
  if (wanted <= *end) return os::Mapped::yes;
  os::Mapped mapped = os::map_at(static_cast<char*>(table) + *end, wanted - *end, os::Access::read_and_write);
  if (mapped == os::Mapped::yes) *end = wanted;
  return mapped;
}

// The part of the map of bins that can be written: what was readable becomes writable.
os::Mapped commit_bins(uint32_t number, size_t upto) {
  size_t& end = table_ends[number].bins;
  size_t whole = round_up(arenas[number].slices, os::page_size());
  upto = round_up(upto, table_step);
  if (upto > whole) upto = whole;
  if (upto <= end) return os::Mapped::yes;
  if (!os::commit(arenas[number].bins + end, upto - end)) return os::Mapped::no_memory;
  end = upto;
  return os::Mapped::yes;
}

os::Mapped map_tables(uint32_t number, size_t upto) {
  TableEnds& ends = table_ends[number];
  os::Mapped mapped = map_table(arenas[number].pages, &ends.pages, upto * sizeof(Page));
  if (mapped == os::Mapped::yes) mapped = map_table(arenas[number].discarded, &ends.discarded, upto * sizeof(Discarded));
  if (mapped == os::Mapped::yes) mapped = commit_bins(number, upto);
  // A mapping of the program lies among the tables: this arena has become as large as it can be.
  if (mapped == os::Mapped::taken) arenas[number].slices = arenas[number].committed.load(std::memory_order_relaxed);
  return mapped;
}

os::Mapped map_slices(uint32_t number, uint32_t start, uint32_t count) {
  Arena& arena = arenas[number];
  os::Mapped mapped = map_tables(number, size_t{start} + count);
  if (mapped != os::Mapped::yes) return mapped;
  void* address = reinterpret_cast<void*>(arena.base + (uintptr_t{start} << slice_shift));
  size_t bytes = size_t{count} << slice_shift;
  mapped = os::map_at(address, bytes, os::Access::read_and_write);
  if (mapped != os::Mapped::yes) return mapped;
  // Also where the system would use huge pages for all memory: what rounding leaves unused would be resident.
  os::set_huge_pages(address, bytes, has_huge_pages(number));
  arena.mapped += count;
  arena.committed.store(start + count, std::memory_order_release);
  return os::Mapped::yes;
}

// A step that is worth the call, and ends with a huge page; at least what is needed.
uint32_t step_from(const Arena& arena, uint32_t start, uint32_t needed) {
  size_t step = (size_t{start - arena.first} << slice_shift) / 8;
  step = limited_step(step < least_step ? least_step : step > most_step ? most_step : step);
  size_t slices = step >> slice_shift;
  if (slices < needed) slices = needed;
  constexpr size_t per_huge_page = huge_page >> slice_shift;
  if (step >= least_step) slices = round_up(start + slices, per_huge_page) - start;
  return slices > arena.slices - start ? arena.slices - start : static_cast<uint32_t>(slices);
}

os::Mapped map_step(uint32_t number, uint32_t start, uint32_t needed) {
  uint32_t step = step_from(arenas[number], start, needed);
  os::Mapped mapped = map_slices(number, start, step);
  return mapped == os::Mapped::yes || step == needed ? mapped : map_slices(number, start, needed);
}

bool open(size_t length, size_t needed, uint32_t parts) {
  TP_ASSERT(arena_lock.is_held());
  uint32_t number = arena_total.load(std::memory_order_relaxed);
  for (bool no_memory = false; length >= smallest_window && !no_memory; length /= 4) {
    size_t slices = (length >> slice_shift) / parts;
    size_t bins = slices * parts;
    const Tables tables = tables_of(slices, bins);
    if (slices < tables.slices + needed) return false;
    uintptr_t base = place_window(length, tables, bins, &no_memory);
    if (base == 0) continue;
    auto* map = reinterpret_cast<uint8_t*>(base + tables.bins);
    for (uint32_t i = 0; i < parts; ++i) set_up(number + i, base + i * (slices << slice_shift), slices, tables, map + i * slices);
    if (number == 0) window_length = length;
    arena_total.store(number + parts, std::memory_order_release);
    return true;
  }
  return false;
}

// The map of bins takes a byte for each slice of the window, of which a limited process has less.
size_t window_within_limits() {
  size_t length = largest_window;
  size_t limit = os::mapping_limit();
  while (limit != SIZE_MAX && length > smallest_window && (length >> slice_shift) > limit / 64) length /= 2;
  return length;
}

}  // namespace

bool open_window() { return open(window_within_limits(), 1, 2); }

bool open_further_arena(size_t needed) {
  return arena_total.load(std::memory_order_relaxed) < max_arenas && open(window_within_limits(), needed, 1);
}

Growth grow(uint32_t number, uint32_t needed, uint32_t* start) {
  TP_ASSERT(arena_lock.is_held());
  Arena& arena = arenas[number];
  uint32_t end = arena.committed.load(std::memory_order_relaxed);
  if (needed > arena.slices - end) return Growth::no_space;
  os::Mapped mapped = map_step(number, end, needed);
  if (mapped == os::Mapped::yes) return Growth::in_place;
  // In hops that double: a few calls cross any mapping.
  for (size_t gap = least_step >> slice_shift; mapped == os::Mapped::taken; gap *= 2) {
    if (end + gap + needed > arena.slices) return Growth::no_space;
    *start = static_cast<uint32_t>(end + gap);
    mapped = map_step(number, *start, needed);
  }
  return mapped == os::Mapped::yes ? Growth::behind_a_gap : Growth::no_memory;
}

size_t mapped_bytes(uint32_t number) {
  const TableEnds& ends = table_ends[number];
  return ends.pages + ends.discarded + arenas[number].slices + (size_t{arenas[number].mapped} << slice_shift);
}

bool growth_is_valid(uint32_t number) {
  const Arena& arena = arenas[number];
  const TableEnds& ends = table_ends[number];
  uint32_t end = arena.committed.load(std::memory_order_relaxed);
  void* base = reinterpret_cast<void*>(arena.base);
  if (arena.first > arena.fresh || arena.fresh > end || end > arena.slices) return broken("an arena's parts are in order", base);
  if (end == arena.first) return true;
  if (ends.pages < end * sizeof(Page) || ends.discarded < end * sizeof(Discarded) || ends.bins < end) {
    return broken("usable slices have entries in the tables", base);
  }
  return true;
}

}  // namespace tp
