#include "profile/size_histogram.h"

#include <atomic>

#include "profile/output.h"

namespace tp::profile {

namespace {

// 64 KiB in four stripes, so that threads seldom meet; pages that no size touches cost no memory.
constexpr size_t bucket_count = max_class_size / 16;
constexpr size_t stripe_count = 4;
constinit std::atomic<uint64_t> stripes[stripe_count][bucket_count] = {};

size_t bucket_of(size_t requested) { return requested == 0 ? 0 : (requested - 1) / 16; }

// Stacks of threads are far apart: their addresses tell threads from each other.
size_t stripe_of_thread() {
  return (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) >> 20) % stripe_count;
}

uint64_t total(size_t bucket) {
  uint64_t sum = 0;
  for (auto& stripe : stripes) sum += stripe[bucket].load(std::memory_order_relaxed);
  return sum;
}

}  // namespace

void note_refill(size_t requested, uint32_t blocks) {
  if (requested > max_class_size) return;
  stripes[stripe_of_thread()][bucket_of(requested)].fetch_add(blocks, std::memory_order_relaxed);
}

uint64_t count_of(size_t requested) { return requested > max_class_size ? 0 : total(bucket_of(requested)); }

bool write_sizes(const char* path) {
  Output output(path);
  for (size_t bucket = 0; bucket < bucket_count; ++bucket) {
    uint64_t count = total(bucket);
    if (count == 0) continue;
    Text line;
    line.add((bucket + 1) * 16).add(" ").add(count).add("\n");
    output.write(line);
  }
  return output.close();
}

}  // namespace tp::profile
