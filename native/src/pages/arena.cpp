#include "pages/arena.h"

#include "base/options.h"

namespace tp {

// Constants: programs allocate before constructors of this library would run.
constinit Arena arenas[max_arenas]{};
uintptr_t window_length = 0;
std::atomic<uint32_t> arena_total{0};
Lock arena_lock;

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
static bool has_entry(PageId slice) { return slice_index(slice) >= arenas[slice >> slice_bits].first; }

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

}  // namespace tp
