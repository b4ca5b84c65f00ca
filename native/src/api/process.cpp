// The entry points that concern the whole process: options, idle memory, statistics, profile, misuse, validity.
#include <errno.h>
#include <string.h>

#include "api/process.h"
#include "base/options.h"
#include "base/report.h"
#include "checked/process.h"
#include "heap/heap.h"
#include "heap/magazines.h"
#include "heap/purge.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"
#include "pages/runs.h"
#include "pools/pool.h"
#include "profile/heap_profile.h"
#include "profile/size_histogram.h"

using namespace tp;

int tp_version() noexcept {
  return TIDEPOOL_VERSION_MAJOR * 10000 + TIDEPOOL_VERSION_MINOR * 100 + TIDEPOOL_VERSION_PATCH;
}

bool tp_is_checked() noexcept { return checked; }

int tp_set_option(tp_option option, int64_t value) noexcept { return options::set(option, value); }

int64_t tp_get_option(tp_option option) noexcept {
  return option >= 0 && option < tp_option_count ? options::get_now_or_at_first_use(option) : 0;
}

void tp_thread_idle() noexcept {
  if (Heap* heap = known_heap(); heap != nullptr) empty_magazines(heap);
}

size_t tp_purge(uint32_t min_idle_ms) noexcept {
  if (checked) check::drain_quarantine();
  tp_thread_idle();
  return purge(min_idle_ms);
}

size_t tp::trim_process(size_t keep) {
  if (checked) check::drain_quarantine();
  tp_thread_idle();
  return trim(keep);
}

namespace {

// Adds one heap to the statistics. Its lock is held.
void add_heap(Heap* heap, tp_statistics& sum) {
  size_t page_bytes = 0;
  for (size_t bin = 0; bin < bin_count; ++bin) {
    size_t used = 0, idle = 0, block_size = 0;
    for (uint32_t list : {heap->queue[bin], heap->full[bin]}) {
      for (PageId id = list; id != 0; id = page_of(id)->next) {
        const Page* page = page_of(id);
        size_t remote = RemoteWord{page->remote.load(std::memory_order_relaxed)}.count();
        block_size = page->block_size;
        used += page->used - remote;
        idle += page->carved - page->used - discarded_of(id)->lost + remote;
        page_bytes += size_t{page->slices} << slice_shift;
      }
    }
    sum.live_bytes += used * block_size;
    sum.cached_bytes += idle * block_size;
  }
  size_t kept = 0;
  for (uint32_t i = 0; i < 3; ++i) kept += size_t{heap->kept_count[i]} << (i + slice_shift);
  for (const Heap::KeptLarge& large : heap->kept_large) kept += size_t{large.slices} << slice_shift;
  sum.retained_bytes += kept;
  sum.live_bytes += heap->held_bytes - page_bytes - kept;  // large blocks
  sum.remote_frees += heap->remote_frees;
}

// Blocks in magazines count as used of their pages, of this heap and of others.
size_t listed_bytes(const Heap* heap) {
  size_t bytes = 0;
  for (size_t bin = 1; bin < bin_count; ++bin) bytes += cached_blocks(heap, bin) * shapes.of[bin].block_size;
  return bytes;
}

}  // namespace

void tp_get_statistics(tp_statistics* statistics) noexcept {
  tp_statistics sum{};
  size_t listed = 0;
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    Locked locked(heap->lock);
    HeapState state = heap->state.load(std::memory_order_relaxed);
    if (state == HeapState::free) continue;
    add_heap(heap, sum);
    listed += listed_bytes(heap);
    if (state == HeapState::thread) ++sum.threads;
    if (state == HeapState::explicit_) ++sum.heaps;
  }
  listed = listed < sum.live_bytes ? listed : sum.live_bytes;
  sum.live_bytes -= listed;
  sum.cached_bytes += listed;
  ArenaUsage usage = arena_usage();
  sum.retained_bytes += usage.dirty_bytes;
  sum.committed_bytes = usage.used_bytes + usage.dirty_bytes;
  sum.peak_committed_bytes = usage.peak_bytes;
  sum.reserved_bytes = usage.mapped_bytes;
  sum.metadata_bytes = usage.meta_bytes;
  sum.purged_bytes = usage.purged_bytes;
  sum.os_calls = os::call_count();
  sum.orphans = orphan_count();
  sum.pools = pool_count();
  if (checked) check::adjust_statistics(sum);
  size_t size = statistics->struct_size < sizeof(sum) ? statistics->struct_size : sizeof(sum);
  sum.struct_size = size;
  memcpy(statistics, &sum, size);
}

bool tp_get_class_statistics(size_t index, tp_class_statistics* statistics) noexcept {
  if (index >= class_count || statistics->struct_size != sizeof(tp_class_statistics)) return false;
  size_t bin = index + 1;
  tp_class_statistics sum{sizeof(sum), size_of_bin(bin), 0, 0, 0, 0};
  size_t listed = 0;
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    Locked locked(heap->lock);
    if (heap->state.load(std::memory_order_relaxed) == HeapState::free) continue;
    for (uint32_t list : {heap->queue[bin], heap->full[bin]}) {
      for (PageId id = list; id != 0; id = page_of(id)->next) {
        const Page* page = page_of(id);
        size_t remote = RemoteWord{page->remote.load(std::memory_order_relaxed)}.count();
        sum.live_blocks += page->used - remote;
        sum.cached_blocks += page->carved - page->used - discarded_of(id)->lost + remote;
        ++sum.pages;
      }
    }
    listed += cached_blocks(heap, bin);
    sum.refills += heap->refills[bin];
  }
  listed = listed < sum.live_blocks ? listed : sum.live_blocks;
  sum.live_blocks -= listed;
  sum.cached_blocks += listed;
  *statistics = sum;
  return true;
}

void tp_print_statistics(int file_descriptor) noexcept {
  tp_statistics s{};
  s.struct_size = sizeof(s);
  tp_get_statistics(&s);
  const struct {
    const char* name;
    size_t value;
  } lines[] = {{"live bytes", s.live_bytes},       {"cached bytes", s.cached_bytes},
               {"retained bytes", s.retained_bytes}, {"committed bytes", s.committed_bytes},
               {"peak committed bytes", s.peak_committed_bytes}, {"reserved bytes", s.reserved_bytes},
               {"metadata bytes", s.metadata_bytes}, {"purged bytes", s.purged_bytes},
               {"calls of the system", s.os_calls}, {"threads", s.threads},
               {"orphans", s.orphans},             {"heaps", s.heaps},
               {"pools", s.pools},                 {"remote frees", s.remote_frees}};
  Text text;
  for (const auto& line : lines) text.add(line.name).add(": ").add(line.value).add("\n");
  text.write_to(file_descriptor);
  for (size_t i = 0; i < class_count; ++i) {
    tp_class_statistics c{};
    c.struct_size = sizeof(c);
    tp_get_class_statistics(i, &c);
    if (c.pages == 0) continue;
    Text row;
    row.add("class ").add(c.block_size).add(": live ").add(c.live_blocks).add(", cached ").add(c.cached_blocks);
    row.add(", pages ").add(c.pages).add(", refills ").add(c.refills).add("\n").write_to(file_descriptor);
  }
}

bool tp_write_size_profile(const char* path) noexcept { return profile::write_sizes(path); }
bool tp_write_heap_profile(const char* path) noexcept { return profile::write_heap(path); }

tp_misuse_handler tp_set_misuse_handler(tp_misuse_handler handler) noexcept { return exchange_misuse_handler(handler); }

size_t tp_report_leaks() noexcept { return checked ? check::report_leaks() : 0; }

bool tp_is_valid() noexcept {
  bool valid = true;
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    if (heap->state.load(std::memory_order_relaxed) == HeapState::free || !heap->lock.try_lock()) continue;
    valid = heap_is_valid(heap) && valid;
    heap->lock.unlock();
  }
  valid = arenas_are_valid() && valid;
  if (checked) valid = check::is_valid() && valid;
  return valid;
}
