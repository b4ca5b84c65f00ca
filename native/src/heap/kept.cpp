#include "heap/kept.h"

#include "os/assert.h"
#include "pages/runs.h"
#include "pages/stamp.h"

namespace tp {

namespace {

// Index of the stack of kept pages by slices: 1, 2, 4; 3: such pages are not kept.
uint32_t kept_index(uint32_t slices) { return slices == 1 ? 0 : slices == 2 ? 1 : slices == 4 ? 2 : 3; }

}  // namespace

void release_run(Heap* heap, PageId id, uint32_t slices, uint32_t stamp) {
  TP_ASSERT(heap->lock.is_held());
  heap->held_bytes -= size_t{slices} << slice_shift;
  give_run(id, slices, true, {stamp, extra_delay_ms(heap)});
}

void keep_slices(Heap* heap, PageId id, uint32_t slices, uint32_t stamp) {
  TP_ASSERT(heap->lock.is_held());
  uint32_t index = kept_index(slices);
  if (index == 3) return release_run(heap, id, slices, stamp);
  uint32_t most = Heap::most_kept >> index;
  TP_ASSERT(heap->kept_count[index] <= most && page_of(id)->is(PageKind::unused));
  if (heap->kept_count[index] == most) {
    // Releases the older half, so that the next empty pages find room.
    uint32_t half = most / 2;
    for (uint32_t i = 0; i < half; ++i) release_run(heap, heap->kept[index][i], slices, stamp);
    for (uint32_t i = half; i < most; ++i) heap->kept[index][i - half] = heap->kept[index][i];
    heap->kept_count[index] = most - half;
  }
  heap->kept[index][heap->kept_count[index]++] = id;
  heap->kept_stamp = stamp;
}

PageId take_slices(Heap* heap, uint32_t slices, Fill fill) {
  TP_ASSERT(heap->lock.is_held());
  uint32_t index = kept_index(slices);
  if (index != 3 && heap->kept_count[index] != 0) return heap->kept[index][--heap->kept_count[index]];
  if (!make_room(heap, size_t{slices} << slice_shift)) return 0;
  constexpr uint32_t most = 8;
  constexpr size_t small_heap = size_t{1} << 20;
  uint32_t count = index == 3 || heap->limit_bytes != 0 || heap->held_bytes < small_heap ? 1 : most >> index;
  Run runs[most];
  uint32_t taken = take_runs(slices, count, runs, fill);
  if (taken == 0) return 0;
  for (uint32_t i = 0; i < taken; ++i) {
    if (runs[i].gone_at != 0) note_refault(heap, size_t{slices} << slice_shift, runs[i].gone_at);
  }
  note_change(heap);
  heap->kept_stamp = now_stamp();  // what just came is not idle
  heap->held_bytes += size_t{taken} * slices << slice_shift;
  // The lowest address is used first: pages are touched in ascending order.
  for (uint32_t i = taken - 1; i > 0; --i) heap->kept[index][heap->kept_count[index]++] = runs[i].id;
  return runs[0].id;
}

Run take_kept_large(Heap* heap, uint32_t slices) {
  TP_ASSERT(heap->lock.is_held());
  Heap::KeptLarge* best = nullptr;
  for (Heap::KeptLarge& kept : heap->kept_large) {
    if (kept.id == 0 || kept.slices < slices || kept.slices > slices + slices / 8) continue;
    if (best == nullptr || kept.slices < best->slices) best = &kept;
  }
  if (best == nullptr) return {0, false};
  PageId id = best->id;
  if (best->slices > slices) release_run(heap, id + slices, best->slices - slices, best->stamp);
  *best = {};
  return {id, false};
}

void keep_large(Heap* heap, PageId id, uint32_t slices) {
  TP_ASSERT(heap->lock.is_held());
  uint32_t now = now_stamp();
  Heap::KeptLarge* place = &heap->kept_large[0];
  for (Heap::KeptLarge& kept : heap->kept_large) {
    if (kept.id == 0) {
      place = &kept;
      break;
    }
    if (now - kept.stamp > now - place->stamp) place = &kept;
  }
  if (place->id != 0) release_run(heap, place->id, place->slices, place->stamp);
  *place = {id, slices, now};
  note_change(heap);
}

void release_kept(Heap* heap, uint32_t now, uint32_t min_idle_ms) {
  TP_ASSERT(heap->lock.is_held());
  if (is_idle(now, heap->kept_stamp, min_idle_ms)) {
    for (uint32_t index = 0; index < 3; ++index) {
      while (heap->kept_count[index] != 0) {
        release_run(heap, heap->kept[index][--heap->kept_count[index]], 1u << index, heap->kept_stamp);
      }
    }
  }
  for (Heap::KeptLarge& kept : heap->kept_large) {
    if (kept.id == 0 || !is_idle(now, kept.stamp, min_idle_ms)) continue;
    release_run(heap, kept.id, kept.slices, kept.stamp);
    kept = {};
  }
}

bool make_room(Heap* heap, size_t bytes) {
  if (fits_limit(heap, bytes)) return true;
  release_kept(heap, 0, 0);
  return fits_limit(heap, bytes);
}

}  // namespace tp
