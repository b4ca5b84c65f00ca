// Scenarios about memory, each in a process of its own: how much is resident when, and what rounding costs.
#ifndef TIDEPOOL_BENCH_MEMORY_H
#define TIDEPOOL_BENCH_MEMORY_H

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <latch>
#include <string_view>
#include <utility>

#include "resident.h"
#include "workloads.h"

namespace bench {

inline void report(const char* name, double value) { std::printf("%s %.6g\n", name, value); }

inline double mib(long kib) { return static_cast<double>(kib) / 1024; }

// An octave of 16 .. 2048 and then a size in it: log-uniform sizes of 16 .. 4095 bytes, 764 on average.
inline std::size_t octave_size(random_numbers& random) {
  std::uint32_t low = std::uint32_t{16} << random.below(8);
  return low + random.below(low);
}

// 256 MiB of blocks are rented and written, then returned in the order of renting, in a random order, or by another thread;
// then the process does nothing for two seconds.
template <class Face>
class freed_scenario {
 public:
  static int run(std::string_view order) {
    static freed_scenario self;
    resident before = resident::now();
    double requested = self.fill();
    resident peak = resident::now();
    if (order == "shuffled") self.shuffle();
    if (order == "thread") {
      pthread_t other;
      auto empty_all = [](void* all) {
        static_cast<freed_scenario*>(all)->empty();
        return static_cast<void*>(nullptr);
      };
      if (pthread_create(&other, nullptr, empty_all, &self) != 0) return 3;
      pthread_join(other, nullptr);
    } else {
      self.empty();
    }
    // The list of blocks is the driver's, not the allocator's.
    madvise(self.slots_.get(), count * sizeof(slot<Face>), MADV_DONTNEED);
    resident freed = resident::now();
    report("requested_MiB", requested / (1 << 20));
    report("peak_MiB", mib(peak.all_kib));
    report("overhead_percent", 100 * (static_cast<double>(peak.all_kib - before.all_kib) * 1024 / requested - 1));
    report("freed_MiB", mib(freed.all_kib));
    std::fflush(stdout);
    usleep(2'000'000);
    report("idle_MiB", mib(resident::now().all_kib));
    return 0;
  }

 private:
  static constexpr std::size_t count = 351'615;

  freed_scenario() : slots_(count) { std::memset(static_cast<void*>(slots_.get()), 0, count * sizeof(slot<Face>)); }

  double fill() {
    random_numbers random(1);
    double requested = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t size = octave_size(random);
      rent<Face>(slots_[i], size);
      std::memset(Face::data(slots_[i].block), 1, size);
      requested += static_cast<double>(size);
    }
    return requested;
  }

  // Blocks are moved as bytes, which the block types of all faces survive.
  void shuffle() {
    random_numbers random(2);
    alignas(slot<Face>) char kept[sizeof(slot<Face>)];
    for (std::size_t i = count - 1; i > 0; --i) {
      void* a = &slots_[i];
      void* b = &slots_[random.below(static_cast<std::uint32_t>(i + 1))];
      std::memcpy(kept, a, sizeof(kept));
      std::memmove(a, b, sizeof(kept));
      std::memcpy(b, kept, sizeof(kept));
    }
  }

  void empty() {
    for (std::size_t i = 0; i < count; ++i) give_back<Face>(slots_[i]);
  }

  mapped<slot<Face>> slots_;
};

// Sizes as programs have them, and sizes that are hard.
inline std::size_t size_of(std::string_view distribution, random_numbers& random) {
  if (distribution == "log-uniform") return octave_size(random);
  if (distribution == "uniform") return 1 + random.below(4096);
  if (distribution == "small") {  // geometric, 64 bytes on average: strings, nodes
    double size = 1 - 63 * std::log((random.next() + 1.0) / 4294967297.0);
    return size < 4096 ? static_cast<std::size_t>(size) : 4096;
  }
  if (distribution == "powers") return std::size_t{32} << random.below(8);
  if (distribution == "above-powers") return (std::size_t{32} << random.below(8)) + 1;
  if (distribution == "peaks") {  // the recorded profile of the tuner's row: three object sizes and a little of everything
    std::uint32_t kind = random.below(100);
    return kind < 45 ? 264 : kind < 75 ? 648 : kind < 95 ? 1160 : octave_size(random);
  }
  return 0;
}

// 32 MiB of blocks of a distribution, all of them held: bytes lost to rounding (usable over requested; unknown to faces that
// are not malloc), and resident memory over requested, which has headers and unused parts of pages in it.
template <class Face>
int run_waste(std::string_view distribution, bool has_usable_size) {
  random_numbers random(3);
  if (size_of(distribution, random) == 0) return 2;
  constexpr std::size_t budget = std::size_t{32} << 20;
  mapped<slot<Face>> slots(budget / 32);
  std::memset(static_cast<void*>(slots.get()), 0, budget / 32 * sizeof(slot<Face>));
  resident before = resident::now();
  double requested = 0, usable = 0;
  std::size_t count = 0;
  for (; count < budget / 32 && requested < budget; ++count) {
    std::size_t size = size_of(distribution, random);
    rent<Face>(slots[count], size);
    std::memset(Face::data(slots[count].block), 1, size);
    requested += static_cast<double>(size);
    if (has_usable_size) usable += static_cast<double>(malloc_usable_size(Face::data(slots[count].block)));
  }
  resident peak = resident::now();
  if (has_usable_size) report("rounding_percent", 100 * (usable / requested - 1));
  report("resident_percent", 100 * (static_cast<double>(peak.all_kib - before.all_kib) * 1024 / requested - 1));
  for (std::size_t i = 0; i < count; ++i) give_back<Face>(slots[i]);
  return 0;
}

// 256 MiB of blocks of one size, written and held: resident over requested bytes.
template <class Face>
int run_rounding(std::size_t size) {
  if (size == 0) return 2;
  std::size_t count = (std::size_t{256} << 20) / size;
  mapped<slot<Face>> slots(count);
  std::memset(static_cast<void*>(slots.get()), 0, count * sizeof(slot<Face>));
  resident before = resident::now();
  for (std::size_t i = 0; i < count; ++i) {
    rent<Face>(slots[i], size);
    std::memset(Face::data(slots[i].block), 1, size);
  }
  double grown = static_cast<double>(resident::now().all_kib - before.all_kib) * 1024;
  report("resident_ratio", grown / static_cast<double>(count * size));
  for (std::size_t i = 0; i < count; ++i) give_back<Face>(slots[i]);
  return 0;
}

// Threads that have rented, written and returned 16 blocks of each of 28 sizes from 16 to 6617 bytes, and stay.
template <class Face>
class threads_scenario {
 public:
  static int run(int threads) {
    if (threads < 1) return 2;
    threads_scenario self(threads);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    mapped<pthread_t> all(static_cast<std::size_t>(threads));
    std::memset(all.get(), 0, static_cast<std::size_t>(threads) * sizeof(pthread_t));
    resident before = resident::now();
    for (int i = 0; i < threads; ++i) {
      if (pthread_create(&all[static_cast<std::size_t>(i)], &attributes, work, &self) != 0) return 3;
    }
    self.done_.wait();
    report("thread_MB", static_cast<double>(resident::now().all_kib - before.all_kib) * 1024 / 1e6 / threads);
    self.over_.count_down();
    for (int i = 0; i < threads; ++i) pthread_join(all[static_cast<std::size_t>(i)], nullptr);
    return 0;
  }

 private:
  explicit threads_scenario(int threads) : done_(threads) {}

  static void* work(void* scenario) {
    auto& self = *static_cast<threads_scenario*>(scenario);
    double size = 16;
    for (int i = 0; i < 28; ++i, size *= 1.25) {
      alignas(slot<Face>) char room[16 * sizeof(slot<Face>)] = {};
      auto* slots = reinterpret_cast<slot<Face>*>(room);
      for (int k = 0; k < 16; ++k) {
        rent<Face>(slots[k], static_cast<std::size_t>(size));
        std::memset(Face::data(slots[k].block), 1, static_cast<std::size_t>(size));
      }
      for (int k = 0; k < 16; ++k) give_back<Face>(slots[k]);
    }
    self.done_.count_down();
    self.over_.wait();
    return nullptr;
  }

  std::latch done_;
  std::latch over_{1};
};

// A program that limits its own address space to 4 GiB after its first allocations: whether it can still map a megabyte
// and start a thread, and how much it gets of the allocator.
inline int run_limited() {
  constexpr std::size_t limit_bytes = std::size_t{4} << 30, size = std::size_t{1} << 20, most = 8192;
  mapped<void*> blocks(most);
  std::memset(blocks.get(), 0, most * sizeof(void*));
  blocks[0] = std::malloc(100);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0) return 3;
  limit.rlim_cur = limit_bytes;
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 3;
  int failed = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, [](void* nothing) { return nothing; }, nullptr) != 0) ++failed;
  else pthread_join(thread, nullptr);
  std::size_t count = 1;
  while (count < most && (blocks[count] = std::malloc(size)) != nullptr) ++count;
  report("failed_count", failed + (count * size > limit_bytes));
  report("allocated_MiB", static_cast<double>(count));
  for (std::size_t i = 0; i < count; ++i) std::free(blocks[i]);
  return 0;
}

// Grows one block to 256 MiB in steps of 64 KiB and writes each step. Reports the time in realloc, and with the writes. crowded:
// behind each step a new block of 256 KiB or 2 MiB is rented and stays, which most likely lies where the growing one would go on.
inline int run_growth(bool crowded) {
  constexpr std::size_t step = std::size_t{64} << 10, most = std::size_t{256} << 20;
  char* block = nullptr;
  mapped<void*> neighbours(most / step);
  std::uint64_t begin = now(), in_realloc = 0;
  for (std::size_t size = step; size <= most; size += step) {
    std::uint64_t before = now();
    char* grown = static_cast<char*>(std::realloc(block, size));
    in_realloc += now() - before;
    if (grown == nullptr) return 3;
    block = grown;
    std::memset(block + size - step, 1, step);
    if (crowded) neighbours[size / step - 1] = std::malloc((size / step % 2 == 0 ? 4 : 32) * step);
  }
  report("realloc_ns", static_cast<double>(in_realloc));
  report("with_writing_ns", static_cast<double>(now() - begin));
  std::free(block);
  for (std::size_t i = 0; crowded && i < most / step; ++i) std::free(neighbours[i]);
  return 0;
}

}  // namespace bench
#endif
