// The heap profile: samples one allocation in about sample_bytes bytes with its call stack and follows it until it is freed
// (pprof reads it). It lives in memory of its own and never calls the allocator. Thread-safe; never called with a lock held
// that is also taken on a free.
#pragma once

#include <atomic>

#include "base/config.h"

namespace tp::profile {

namespace internal {
extern std::atomic<int64_t> bytes_until_sample;
extern std::atomic<uint64_t> mean_bytes;
extern std::atomic<uint32_t> live_samples;
uint32_t count_samples(size_t size, uint32_t blocks);
}

// Sets the mean bytes between samples, before the first allocation. 0: off.
void set_sampling(uint64_t mean_bytes);

inline bool sampling() { return internal::mean_bytes.load(std::memory_order_relaxed) != 0; }

// Counts blocks that the slow path is about to hand out for requests of this size: one, or as many as a refill brings. Returns
// how many of them are samples, seldom more than 0. The request at hand then stands for these: serve it with a block whose
// free takes the slow path and call record() with the number; the free calls forget() first.
inline uint32_t take_samples(size_t size, uint32_t blocks) { return sampling() ? internal::count_samples(size, blocks) : 0; }

// Below this mean a refill would be several samples, represented by one block: every request has to be counted alone.
inline constexpr uint64_t least_mean_of_refills = 128 * 1024;

// Records a sampled block with the size that was asked for. Walks the stack: some microseconds. Call it without locks.
void record(const void* block, size_t requested, uint32_t samples = 1);

// Ends a sample when the freed block is one. Cheap when there are none.
void forget_slow(const void* block);
inline void forget(const void* block) {
  if (internal::live_samples.load(std::memory_order_relaxed) != 0) forget_slow(block);
}

// Writes the samples for pprof. False with errno.
bool write_heap(const char* path);

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

}  // namespace tp::profile
